// Before anything is painted, so that a chosen theme does not flash. A file of its own: the page allows no inline script.
const chosen = localStorage.getItem('theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
