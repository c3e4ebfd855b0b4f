/** The layout that a query asks for. The schema has seen to the types of its parts. */
import { isPlainObject, type Issues } from '#kernel'
import { modeOf, optionsOf, type RenderOptions } from './render-modes.ts'

/** Names of options in a query. */
const OPTIONS: ReadonlyMap<string, keyof RenderOptions> = new Map<string, keyof RenderOptions>([
  ['roll_up', 'rollUp'],
  ['hierarchical', 'hierarchical'],
  ['value_key', 'valueKey'],
  ['show_levels', 'showLevels'],
  ['iso_timestamp', 'isoTimestamp'],
  ['row_key', 'rowKey'],
  ['column_key', 'columnKey'],
  ['header_array', 'headerArray'],
  ['data_axis', 'dataAxis'],
  ['key_separator', 'keySeparator'],
  ['key_seperator', 'keySeparator'],
  ['key_skip_empty', 'keySkipEmpty'],
  ['include_window_spec', 'includeWindowSpec'],
])

export function readRender(render: unknown, issues: Issues): RenderOptions {
  const given = isPlainObject(render) ? render : {}
  const name = typeof render === 'string' ? render : given['mode']
  const mode = modeOf(typeof name === 'string' ? name : undefined)
  const explicit = Object.entries(given).flatMap(([key, value]) => {
    const option = OPTIONS.get(key)
    return option === undefined || value === null ? [] : [[option, value] as const]
  })
  if (mode === 'UPLOAD' && explicit.length > 0) {
    issues.wrong('/render', 'UPLOAD cannot be combined with other options', 'leave the options out')
  }
  return { ...optionsOf(mode), ...(Object.fromEntries(explicit) as Partial<RenderOptions>) }
}
