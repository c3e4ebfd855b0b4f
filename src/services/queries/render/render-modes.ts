/** Defines the render modes and their options. */
import { Type } from 'typebox'
import { closed, type Decoded, text } from '#services/shared/contract'

const flag = Type.Optional(Type.Boolean())
const key = Type.Optional(text(512, { minLength: 1 }))
const axis = Type.Optional(Type.Enum(['row', 'column']))
const separator = Type.Optional(text(20))
const OPTIONS = {
  roll_up: flag,
  hierarchical: Type.Optional(
    Type.Union([Type.Boolean(), Type.Array(Type.Enum(['resource', 'metric', 'aggregation']))], {
      description: 'levels that nest objects: true, false, or a list of resource, metric and aggregation',
    }),
  ),
  value_key: key,
  show_levels: flag,
  iso_timestamp: flag,
  row_key: key,
  column_key: key,
  header_array: axis,
  data_axis: axis,
  key_separator: separator,
  key_seperator: separator,
  key_skip_empty: flag,
  include_window_spec: flag,
}
const OptionsSchema = Type.Object(OPTIONS)

/** Options of a mode. Without `header_array` the result is a list of objects. */
export interface RenderOptions extends Decoded<typeof OptionsSchema> {
  /** objects in the form that the broker accepts: each with its `resource`, without `role` */
  readonly upload?: true
  readonly csv?: true
}

const ROWS: RenderOptions = { header_array: 'row', data_axis: 'column' }
const OBJECTS: RenderOptions = { iso_timestamp: true }
const BY_METRIC: RenderOptions = { ...OBJECTS, hierarchical: ['metric'] }

const MODES: Readonly<Record<string, RenderOptions>> = {
  HEADER_ROW: { ...ROWS, iso_timestamp: true },
  COMPACT: ROWS,
  COMPACT_WS: { ...ROWS, include_window_spec: true },
  SERIES: { ...ROWS, data_axis: 'row', roll_up: true, include_window_spec: true },
  HEADER_COLUMN: { iso_timestamp: true, header_array: 'column', data_axis: 'row' },
  FLAT_DICT: { ...OBJECTS, show_levels: true },
  HIER_DICT: { ...OBJECTS, hierarchical: true, show_levels: true },
  METRIC_FLAT_DICT: { ...BY_METRIC, key_skip_empty: true },
  DESC: { ...BY_METRIC, show_levels: true },
  UPLOAD: { roll_up: true, upload: true },
  CSV: { ...ROWS, csv: true },
}
const DEFAULT_MODE = 'COMPACT_WS'
const PREFIX = 'RENDER_MODE_'
const NAMES = Object.keys(MODES)

const mode = Type.Enum([...NAMES.map((name) => `${PREFIX}${name}`), ...NAMES])
export const render = Type.Union([mode, closed({ mode: Type.Optional(mode), ...OPTIONS })], {
  description: 'the name of a mode, or an object with mode and options',
})

export function optionsOf(settings: Decoded<typeof render> = {}): RenderOptions {
  const { mode: name = DEFAULT_MODE, ...options } = typeof settings === 'string' ? { mode: settings } : settings
  return { ...MODES[name.replace(PREFIX, '')], ...options }
}
