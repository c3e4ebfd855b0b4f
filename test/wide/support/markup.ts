/** Markup that would run a script, or change a page, where a name is taken for HTML, a URL, a style or a template. */
const RUN = 'window.hit=1'

const TAGS = ['img', 'svg', 'iframe', 'video', 'audio', 'details', 'input', 'body', 'object', 'marquee']
const EVENTS = ['onerror', 'onload', 'onfocus', 'ontoggle']

export const MARKUP: readonly string[] = [
  ...TAGS.flatMap((tag) => EVENTS.map((event) => `<${tag} src=x autofocus open ${event}=${RUN}>`)),
  `<script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `'><script>${RUN}</script>`,
  `</title><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `</style><script>${RUN}</script>`,
  `<!--<img src="--><img src=x onerror=${RUN}>`,
  `<a href="javascript:${RUN}">a</a>`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `{{constructor.constructor("${RUN}")()}}`,
  `\${${RUN}}`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<style>*{display:none}</style>`,
  `<base href="https://example.org/">`,
  `<meta http-equiv="refresh" content="0;url=https://example.org">`,
  `<form action="https://example.org"><button>send</button></form>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `\u202E<script>${RUN}</script>`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${RUN}>#x"/></svg>`,
]
