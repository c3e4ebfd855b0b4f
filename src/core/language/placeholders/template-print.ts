/** Prints values for a rendering, like handlebars and therefore JavaScript. */

/** Maximum number of nested lists; deeper lists print nothing. */
const MAX_LIST_DEPTH = 100

/** Lists as items with commas, other objects as `[object Object]`; a list longer than `room` is cut soon after. */
export function printed(value: unknown, room: number, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'object':
      if (value === null) return ''
      return Array.isArray(value) ? printedList(value, room, depth) : '[object Object]'
    default:
      return ''
  }
}

function printedList(list: readonly unknown[], room: number, depth: number): string {
  if (depth >= MAX_LIST_DEPTH) return ''
  let text = ''
  for (let i = 0; i < list.length && text.length <= room; i++) {
    text += (i === 0 ? '' : ',') + printed(list[i], room - text.length, depth + 1)
  }
  return text
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#x27;'],
  ['`', '&#x60;'],
  ['=', '&#x3D;'],
])

export function escaped(text: string): string {
  return /[&<>"'`=]/.test(text) ? text.replaceAll(/[&<>"'`=]/g, (character) => ESCAPES.get(character) ?? '') : text
}
