"""The pages of the web chat for those who run the quiz. The service checks the role of every call."""

from bot.web.admin.pages import AdminPages as AdminPages
