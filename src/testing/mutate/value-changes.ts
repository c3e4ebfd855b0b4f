/**
 * Generates single changes of values in a rule, like typical mistakes: limits, comparisons, names, durations, zones,
 * clocks.
 */
import { isPlainObject } from '#kernel'

/** `from` and `to` are JSON */
export type ValueChange = readonly [path: string, value: unknown, from: string, to: string]

export interface Confusions {
  /** metrics of the rule, which are substituted for each other */
  readonly metrics: readonly string[]
  /** defaults of variables by name, which are substituted for the variable */
  readonly defaults: Readonly<Record<string, unknown>>
  /** by property: other allowed values */
  readonly enums: Readonly<Record<string, readonly unknown[]>>
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '>': ['>=', '<'],
  '>=': ['>', '<='],
  '<': ['<=', '>'],
  '<=': ['<', '>='],
  '==': ['!='],
  '!=': ['=='],
  '===': ['!=='],
  '!==': ['==='],
  and: ['or'],
  or: ['and'],
  '&&': ['||'],
  '||': ['&&'],
}

const MINUTE_MS = 60_000

/** Changes each value in a node's properties or a task's variables, one at a time. */
export function propertyChanges(
  properties: Readonly<Record<string, unknown>>,
  confusions: Confusions,
): readonly ValueChange[] {
  return Object.entries(properties).flatMap(([name, value]) => {
    const others = confusions.enums[name]?.filter((other) => other !== value)
    const put = ([path, changed, from, to]: ValueChange): ValueChange => [
      `/${name}${path}`,
      { ...properties, [name]: changed },
      from,
      to,
    ]
    if (others === undefined) return valueChanges(value, confusions).map(put)
    return others.slice(0, 1).map((other) => put(['', other, JSON.stringify(value), JSON.stringify(other)]))
  })
}

function valueChanges(value: unknown, confusions: Confusions, path = ''): readonly ValueChange[] {
  const shown = JSON.stringify(value)
  const to = (changed: unknown): ValueChange => [path, changed, shown, JSON.stringify(changed)]
  if (typeof value === 'number') return numberChanges(value).map(to)
  if (typeof value === 'boolean') return [to(!value)]
  if (typeof value === 'string') return textChanges(value, confusions).map(to)
  if (Array.isArray(value))
    return value.flatMap((item, i) =>
      valueChanges(item, confusions, `${path}/${i}`).map(([at, changed, from, into]): ValueChange => [
        at,
        value.map((other: unknown, j) => (j === i ? changed : other)),
        from,
        into,
      ]),
    )
  if (!isPlainObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    ...operatorChanges(value, key, path),
    ...valueChanges(inner, confusions, `${path}/${key}`).map(([at, changed, from, into]): ValueChange => [
      at,
      { ...value, [key]: changed },
      from,
      into,
    ]),
  ])
}

function operatorChanges(value: Readonly<Record<string, unknown>>, key: string, path: string): readonly ValueChange[] {
  if (!Array.isArray(value[key])) return []
  return (OPERATORS[key] ?? []).map((operator) => {
    const renamed = Object.fromEntries(Object.entries(value).map(([k, v]) => [k === key ? operator : k, v]))
    return [path, renamed, key, operator]
  })
}

/** Changes a number by one step and by a tenth of its value, up and down. */
function numberChanges(value: number): readonly number[] {
  const step = Number.isInteger(value) ? 1 : 0.1
  const tenths = [value * 1.1, value * 0.9].map((changed) => Number(changed.toPrecision(6)))
  return [...new Set([value + step, value - step, ...tenths])].filter((changed) => changed !== value)
}

function textChanges(text: string, { metrics, defaults }: Confusions): readonly unknown[] {
  const duration = durationChanges(text)
  if (duration.length > 0) return duration
  if (/^[A-Z]\w+\/[A-Z]\w+/.test(text)) return ['Pacific/Auckland']
  if (/^\w+$/.test(text)) {
    const [other] = metrics.includes(text) ? metrics.filter((name) => name !== text) : []
    return [`${text}_x`, ...(other === undefined ? [] : [other])]
  }
  const variable = /^\$\{variables\.(\w+)\}$/.exec(text)?.[1] ?? ''
  return [
    ...(Object.hasOwn(defaults, variable) ? [defaults[variable]] : []),
    ...partChanges(text, /\$\{[\w.$]+(?=\})|\{\{[\w.$]+(?=\}\})/g, (name) => [`${name}_x`]),
    ...partChanges(text, /[<>]=?|[!=]==?|&&|\|\|/g, (operator) => OPERATORS[operator] ?? []),
    ...partChanges(text, /(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g, (number) => [String(Number(number) + 1)]),
  ]
}

/** Replaces each match of `part` in turn. */
function partChanges(text: string, part: RegExp, others: (found: string) => readonly string[]): readonly string[] {
  return [...text.matchAll(part)].flatMap((match) =>
    others(match[0]).map((other) => text.slice(0, match.index) + other + text.slice(match.index + match[0].length)),
  )
}

const SMALLER_UNIT: Readonly<Record<string, string>> = { s: 'ms', m: 's', h: 'm', d: 'h', M: 'S', H: 'M' }

/** Returns durations one more, one less, and in the next smaller unit: `5m` becomes `6m`, `4m` and `5s`. */
function durationChanges(text: string): readonly string[] {
  const [, head, number, unit] = /^(PT|)(\d{1,9})(ms|[smhd]|[SMH])$/.exec(text) ?? []
  if (head === undefined || number === undefined || unit === undefined) return []
  if ((head === 'PT') !== /[SMH]/.test(unit)) return []
  const count = Number(number)
  const smaller = SMALLER_UNIT[unit]
  return [
    `${head}${count + 1}${unit}`,
    ...(count > 1 ? [`${head}${count - 1}${unit}`] : []),
    ...(smaller === undefined ? [] : [`${head}${count}${smaller}`]),
  ]
}

/** Returns twice and half the duration, and the duration misread as seconds. */
export function millisecondChanges(ms: number): readonly number[] {
  return [2 * ms, Math.round(ms / 2), ...(ms >= 1000 ? [Math.round(ms / 1000)] : [])].filter((other) => other > 0)
}

/** Returns changed cool-downs in seconds: none, one more or less, twice and half, and other units. */
export function coolDownChanges(seconds: number): readonly number[] {
  const minutes = seconds >= MINUTE_MS / 1000 ? [Math.round(seconds / 60)] : []
  return [seconds - 1, seconds + 1, seconds / 2, seconds * 2, seconds * 1000, ...minutes].filter((other) => other > 0)
}

/** Shifts a cron expression by an hour and by a minute. */
export function cronChanges(cron: string): readonly string[] {
  const fields = cron.trim().split(/\s+/)
  const minute = fields.length > 5 ? 1 : 0
  return [minute, minute + 1].flatMap((at) => {
    const field = fields[at] ?? ''
    if (!/^\d{1,2}$/.test(field)) return []
    const value = Number(field)
    const highest = at === minute ? 59 : 23
    const changed = String(value < highest ? value + 1 : value - 1)
    return [fields.map((other, i) => (i === at ? changed : other)).join(' ')]
  })
}
