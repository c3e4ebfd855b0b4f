/** The layouts of results, and the options that each stands for. */

export interface RenderOptions {
  /** levels that are the same for all series become attributes */
  readonly rollUp: boolean
  /** levels that nest objects: all, none, or those named */
  readonly hierarchical: boolean | readonly string[]
  readonly showLevels: boolean
  readonly isoTimestamp: boolean
  /** where heads stand: undefined for objects */
  readonly headerArray: 'row' | 'column' | undefined
  readonly dataAxis: 'row' | 'column' | undefined
  readonly includeWindowSpec: boolean
  readonly keySeparator: string
  /** objects without a value are left out */
  readonly keySkipEmpty: boolean
  /** key of the value in each object; undefined: it stands by itself */
  readonly valueKey: string | undefined
  /** key of the rows, and of the columns, of a set; undefined: `data`, and `columns` or `rows` */
  readonly rowKey: string | undefined
  readonly columnKey: string | undefined
  /** what goes back into the broker: `resource` in each object, no `role` */
  readonly upload: boolean
  /** text instead of JSON */
  readonly csv: boolean
}

const ROWS: RenderOptions = {
  rollUp: false,
  hierarchical: false,
  showLevels: false,
  isoTimestamp: false,
  headerArray: 'row',
  dataAxis: 'column',
  includeWindowSpec: false,
  keySeparator: '.',
  keySkipEmpty: false,
  valueKey: undefined,
  rowKey: undefined,
  columnKey: undefined,
  upload: false,
  csv: false,
}
const OBJECTS: RenderOptions = { ...ROWS, isoTimestamp: true, headerArray: undefined, dataAxis: undefined }
const BY_METRIC: RenderOptions = { ...OBJECTS, hierarchical: ['metric'] }

const MODES = {
  HEADER_ROW: { ...ROWS, isoTimestamp: true },
  COMPACT: ROWS,
  COMPACT_WS: { ...ROWS, includeWindowSpec: true },
  SERIES: { ...ROWS, dataAxis: 'row', rollUp: true, includeWindowSpec: true },
  HEADER_COLUMN: { ...ROWS, isoTimestamp: true, headerArray: 'column', dataAxis: 'row' },
  FLAT_DICT: { ...OBJECTS, showLevels: true },
  HIER_DICT: { ...OBJECTS, hierarchical: true, showLevels: true },
  METRIC_FLAT_DICT: { ...BY_METRIC, keySkipEmpty: true },
  DESC: { ...BY_METRIC, showLevels: true },
  UPLOAD: { ...OBJECTS, isoTimestamp: false, rollUp: true, upload: true },
  CSV: { ...ROWS, csv: true },
} as const satisfies Readonly<Record<string, RenderOptions>>

export type RenderMode = keyof typeof MODES

const PREFIX = 'RENDER_MODE_'
const NAMES = Object.keys(MODES) as readonly RenderMode[]

/** Names with the prefix, and without. */
export const RENDER_MODES: readonly string[] = [...NAMES.map((name) => `${PREFIX}${name}`), ...NAMES]

const DEFAULT_MODE: RenderMode = 'COMPACT_WS'

/** One of `RENDER_MODES`. */
export function modeOf(name: string | undefined): RenderMode {
  const bare = name?.startsWith(PREFIX) === true ? name.slice(PREFIX.length) : name
  return NAMES.find((mode) => mode === bare) ?? DEFAULT_MODE
}

export function optionsOf(mode: RenderMode): RenderOptions {
  return MODES[mode]
}
