"""Words by which documents show what they ask: labels, stems, tasks and the titles of parts, in many languages."""
