{{- define "dailygrad.name" -}}
{{- if contains "dailygrad" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-dailygrad" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{/* Labels of what is in (list . "part"). */}}
{{- define "dailygrad.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: dailygrad
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "dailygrad.labels" -}}
{{- $root := index . 0 -}}
{{ include "dailygrad.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | quote }}
{{- end -}}

{{/* Image of (list . "service"). */}}
{{- define "dailygrad.image" -}}
{{- $root := index . 0 -}}
{{- $digest := index $root.Values.image.digests (index . 1) -}}
image: {{ printf "%s-%s" $root.Values.image.repository (index . 1) }}{{ if $digest }}@{{ $digest }}{{ else }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}{{ end }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
{{- end -}}

{{- define "dailygrad.container-security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  privileged: false
  capabilities: {drop: [ALL]}
  {{- with .Values.appArmor.profile }}
  appArmorProfile: {type: Localhost, localhostProfile: {{ . }}}
  {{- end }}
{{- end -}}

{{/* Fields of every pod but the sandbox's, of (list . user). */}}
{{- define "dailygrad.pod" -}}
{{- $root := index . 0 -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ index . 1 }}
  runAsGroup: {{ index . 1 }}
  fsGroup: {{ index . 1 }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* Spreads a part of (list . "part") over nodes. */}}
{{- define "dailygrad.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "dailygrad.selector" . | nindent 8 }}
{{- end -}}

{{- define "dailygrad.database-host" -}}
{{- if .Values.database.bundled.enabled }}{{ include "dailygrad.name" . }}-database-rw{{ else }}{{ .Values.database.host }}{{ end -}}
{{- end -}}

{{- define "dailygrad.database-secret" -}}
{{- if .Values.database.bundled.enabled }}{{ include "dailygrad.name" . }}-database-app{{ else }}{{ .Values.secrets.database }}{{ end -}}
{{- end -}}

{{- define "dailygrad.common-env" -}}
- {name: DAILYGRAD_LOG_LEVEL, value: {{ .Values.logLevel | quote }}}
- {name: DAILYGRAD_METRICS_HOST, value: "0.0.0.0"}
- {name: DAILYGRAD_METRICS_PORT, value: "9100"}
{{- with .Values.traces.endpoint }}
- {name: DAILYGRAD_TRACES_URL, value: {{ . | quote }}}
{{- end }}
{{- range $name, $value := .Values.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end -}}

{{- define "dailygrad.service-env" -}}
- {name: DATABASE_URL, value: {{ printf "postgresql://%s@%s:%v/%s" .Values.database.user (include "dailygrad.database-host" .) .Values.database.port .Values.database.name | quote }}}
- {name: DATABASE_PASSWORD_FILE, value: /run/database/password}
- {name: DAILYGRAD_SERVICE_TOKEN_FILE, value: /run/keys/service_token}
- {name: DAILYGRAD_BOT_TOKENS_FILE, value: /run/keys/bot_tokens}
- {name: DAILYGRAD_TOKEN_KEY_FILE, value: /run/keys/token_key}
- {name: DAILYGRAD_HOST, value: "0.0.0.0"}
{{ include "dailygrad.common-env" . }}
{{- end -}}

{{- define "dailygrad.service-mounts" -}}
- {name: keys, mountPath: /run/keys, readOnly: true}
- {name: database, mountPath: /run/database, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- end -}}

{{- define "dailygrad.service-volumes" -}}
- {name: keys, secret: {secretName: {{ .Values.secrets.service }}, defaultMode: 0440}}
- {name: database, secret: {secretName: {{ include "dailygrad.database-secret" . }}, defaultMode: 0440, items: [{key: password, path: password}]}}
- {name: tmp, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
{{- end -}}

{{/* Brings the database to this version; several may do so at once. */}}
{{- define "dailygrad.migrate" -}}
- name: migrate
  {{- include "dailygrad.image" (list . "service") | nindent 2 }}
  args: [migrate]
  env: {{ include "dailygrad.service-env" . | nindent 4 }}
  {{- include "dailygrad.container-security" . | nindent 2 }}
  resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 512Mi}}
  volumeMounts: {{ include "dailygrad.service-mounts" . | nindent 4 }}
{{- end -}}

{{/* A disruption budget of (list . "part"). */}}
{{- define "dailygrad.budget" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "dailygrad.name" $root }}-{{ $part }}
  labels: {{ include "dailygrad.labels" (list $root $part) | nindent 4 }}
spec:
  maxUnavailable: {{ $root.Values.disruption.maxUnavailable }}
  selector:
    matchLabels: {{ include "dailygrad.selector" (list $root $part) | nindent 6 }}
{{- end }}

{{/* A disruption budget and an autoscaler of (list . "part" values "Deployment's name"). */}}
{{- define "dailygrad.scaling" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $values := index . 2 -}}
{{ include "dailygrad.budget" (list $root $part) }}
{{- if eq $values.autoscaling.type "cpu" }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "dailygrad.name" $root }}-{{ $part }}
  labels: {{ include "dailygrad.labels" (list $root $part) | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ include "dailygrad.name" $root }}-{{ $part }}}
  minReplicas: {{ $values.autoscaling.min }}
  maxReplicas: {{ $values.autoscaling.max }}
  metrics:
    - type: Resource
      resource: {name: cpu, target: {type: Utilization, averageUtilization: {{ $values.autoscaling.cpuPercent }}}}
{{- else if eq $values.autoscaling.type "queue" }}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "dailygrad.name" $root }}-{{ $part }}
  labels: {{ include "dailygrad.labels" (list $root $part) | nindent 4 }}
spec:
  scaleTargetRef: {name: {{ include "dailygrad.name" $root }}-{{ $part }}}
  minReplicaCount: {{ $values.autoscaling.min }}
  maxReplicaCount: {{ $values.autoscaling.max }}
  triggers:
    - type: prometheus
      metricType: Value
      metadata:
        serverAddress: {{ $root.Values.queue.prometheus | quote }}
        query: max(dailygrad_answers_waiting_seconds{namespace="{{ $root.Release.Namespace }}"})
        threshold: {{ $root.Values.queue.seconds | quote }}
{{- end }}
{{- end -}}

{{/* Selects the pods of (list . "part"). */}}
{{- define "dailygrad.peer" -}}
podSelector: {matchLabels: {app.kubernetes.io/name: dailygrad, app.kubernetes.io/instance: {{ (index . 0).Release.Name }}, app.kubernetes.io/component: {{ index . 1 }}}}
{{- end -}}
