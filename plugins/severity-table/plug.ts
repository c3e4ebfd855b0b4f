/** A sensor that turns a number into a severity, by a table of ranges with hysteresis. */
import { AppError, compileNumber, definePlug, hasNewData, isPlainObject, problemsOfCode, withoutNewData } from '#plug'

/** As a check of properties reports it. */
interface TableProblem {
  readonly property: 'table'
  readonly message: string
  readonly suggestion: string
}

/** Most severe first. */
const STATES = ['Critical', 'Major', 'Minor', 'Warning', 'Normal'] as const
type State = (typeof STATES)[number]
const MAX_ROWS = 100

export const severityTable = definePlug({
  name: 'severityTable',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Shows the severity of the range that contains a value, and Normal outside of all ranges. Where ranges overlap, the most severe one counts. A more severe range counts at once; a less severe one only when the value has left the present range by more than hysteresis. A run without a new value of the message keeps the state.',
  category: 'Logic',
  parameters: [],
  states: STATES,
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'number to watch: name of a value of the message, or an expression',
      example: 'temperature',
    },
    table: {
      type: 'array',
      mandatory: true,
      description: `at most ${MAX_ROWS} ranges: severity, and from, to or both, which belong to the range`,
      example: [
        { from: 80, severity: 'MINOR' },
        { from: 95, severity: 'CRITICAL' },
      ],
    },
    hysteresis: {
      type: 'double',
      defaultValue: 0,
      description: 'by how much a value must leave a range before the severity falls',
      example: 2,
    },
  },
  output: {
    value: { type: 'double', description: 'the current number' },
    severity: { type: 'string', description: 'CRITICAL, MAJOR, MINOR or WARNING; absent for Normal' },
    since: { type: 'long', description: 'begin of the current state, in epoch milliseconds', unit: 'ms' },
  },
  check({ value, table, hysteresis }) {
    return [
      ...problemsOfCode('value', value, compileNumber),
      ...(table === undefined ? [] : problemsOf(table)),
      ...(hysteresis === undefined || hysteresis >= 0
        ? []
        : [{ property: 'hysteresis', message: `${hysteresis} is negative`, suggestion: 'use 0 or more' }]),
    ]
  },
  prepare: ({ value }) => compileNumber(value),
  execute(context) {
    const { table, hysteresis } = context.properties
    const [problem] = problemsOf(table)
    if (problem !== undefined) throw new AppError('PLUG_FAILED', `${problem.property} ${problem.message}`)
    const before = isMemory(context.internalState) ? context.internalState : undefined
    if (!hasNewData(context, context.prepared)) {
      if (before === undefined) throw withoutNewData(context.prepared)
      return before.state
    }
    const { number: value } = context.prepared.read(context)
    const rows = table as readonly Row[]
    const now = stateOf(rows, value, 0)
    const held = before !== undefined && isHeld(rows, before.state, value, hysteresis) ? before.state : 'Normal'
    const state = STATES.indexOf(held) < STATES.indexOf(now) ? held : now
    const since = before?.state === state ? before.since : context.now
    const rawData = { value, since, ...(state !== 'Normal' && { severity: state.toUpperCase() }) }
    return before?.state === state ? { state, rawData } : { state, rawData, internalState: { state, since } }
  },
})

interface Row {
  readonly severity: string
  readonly from?: number
  readonly to?: number
}

interface Memory {
  state: State
  since: number
}

function isMemory(state: unknown): state is Memory {
  return isPlainObject(state) && STATES.some((one) => one === state['state']) && typeof state['since'] === 'number'
}

function stateOf(rows: readonly Row[], value: number, slack: number): State {
  return STATES.find((state) => isHeld(rows, state, value, slack)) ?? 'Normal'
}

function isHeld(rows: readonly Row[], state: State, value: number, slack: number): boolean {
  return rows.some(
    ({ severity, from = -Infinity, to = Infinity }) =>
      severity.toUpperCase() === state.toUpperCase() && value >= from - slack && value <= to + slack,
  )
}

function problemsOf(table: readonly unknown[]): readonly TableProblem[] {
  if (table.length === 0 || table.length > MAX_ROWS)
    return [{ property: 'table', message: `has ${table.length} ranges`, suggestion: `use 1 to ${MAX_ROWS}` }]
  return table.flatMap((row, i) => {
    const message = problemOf(row)
    const suggestion = 'use ranges such as { from: 80, severity: "MINOR" }'
    return message === undefined ? [] : [{ property: 'table', message: `${message} in range ${i + 1}`, suggestion }]
  })
}

function problemOf(row: unknown): string | undefined {
  if (!isPlainObject(row)) return 'has something other than an object'
  const { severity, from, to, ...others } = row
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `has an unknown field ${JSON.stringify(unknown.slice(0, 100))}`
  if (typeof severity !== 'string' || !isSeverity(severity)) return 'has an invalid severity'
  if (from === undefined && to === undefined) return 'has neither from nor to'
  if (![from, to].every((limit) => limit === undefined || Number.isFinite(limit))) return 'has an invalid limit'
  return typeof from === 'number' && typeof to === 'number' && from > to ? 'has a from above its to' : undefined
}

function isSeverity(text: string): boolean {
  const word = text.toUpperCase()
  return word !== 'NORMAL' && STATES.some((one) => one.toUpperCase() === word)
}
