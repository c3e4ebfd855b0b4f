/** Compiles an operand of a formula, the current or an earlier value of a path, and manages its memory. */
import { AppError, isKnown, numberIn, ofData, whyNoNumber } from '#plug'
import { MAX_SAMPLES, sizeOf, summaryOf, type SlidingWindow } from '../window/sliding-window.ts'
import { addTo, deviation, emptySummary, type Summary } from '../window/summary.ts'
import { endOf, shiftOutOfReach, takeAt, timedWindow, type TimedWindow } from '../window/timed-window.ts'
import { compilePath, single, type CompiledPath } from './path.ts'

export interface Kept {
  recent?: unknown[]
  timed?: TimedWindow
  window?: SlidingWindow
  all?: Summary
}

/** epoch ms */
export interface Moment {
  readonly at: number
  readonly now: number
  readonly lateness: number
}

export interface Operand extends CompiledPath {
  readonly label: string
  record(kept: Kept, value: unknown, moment: Moment): void
  goOn?(kept: Kept, now: number): void
  value(kept: Kept, current: unknown): number | undefined
}

const UNITS: Readonly<Record<string, number>> = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 }
const CALL = /^(max|min|avg|std|sum|count|sequence)\s*\(([^]*)\)$/
const MAX_LAG = 1000

/** Compiles the text between < and >; `lag` is the n of a following `[-n]`. Throws `VALIDATION`. */
export function compileOperand(text: string, lag: number): Operand {
  const call = CALL.exec(text.trim())
  if (call) return compileCall(text, call[1] ?? '', splitArguments(call[2] ?? ''))
  if (lag > MAX_LAG) throw wrong(text, `looks back ${lag} runs; the limit is ${MAX_LAG}`)
  return {
    label: text,
    ...compilePath(text),
    record(kept, value) {
      if (lag > 0) remember(kept, value, lag + 1)
    },
    value: (kept, current) => (lag === 0 ? numberOf(text, current) : laggedNumber(text, kept, lag)),
  }
}

function compileCall(text: string, name: string, args: readonly string[]): Operand {
  const path = args.at(-1)
  if (path === undefined) throw wrong(text, 'lacks a path')
  const compiled = compilePath(path)
  if (name === 'sequence') return sequence(text, compiled, args)
  const counts = name === 'count'
  const key = counts ? unquoted(args[0] ?? '') : ''
  const rest = args.slice(counts ? 1 : 0, -1)
  if (rest.length !== 0 && rest.length !== 2)
    throw wrong(text, 'has an invalid window; use two arguments such as 5, minutes')
  const sampleOf = (value: unknown) => (counts ? Number(String(value) === key) : numberOf(path, value))
  const pickFrom = (summary: Summary) => statistic(counts ? 'sum' : name, summary)
  const [length, unit] = rest
  if (length === undefined || unit === undefined) {
    return {
      label: text,
      ...compiled,
      record: (kept, value) => addTo((kept.all ??= emptySummary()), sampleOf(value)),
      value: ({ all }) => (all ? pickFrom(all) : undefined),
    }
  }
  const reach = { ...reachOf(text, Number(length), unit), lateness: Number.POSITIVE_INFINITY }
  const timedOf = (kept: Kept): TimedWindow => (kept.timed ??= timedWindow(kept.window))
  const dropOld = (timed: TimedWindow, end: number): void => {
    while (shiftOutOfReach(timed, end, reach) !== undefined);
  }
  return {
    label: text,
    ...compiled,
    record(kept, value, { at, now, lateness }) {
      const timed = timedOf(kept)
      takeAt(timed, at, now, sampleOf(value), { ...reach, lateness })
      dropOld(timed, timed.newest ?? at)
    },
    goOn(kept, now) {
      const timed = timedOf(kept)
      dropOld(timed, endOf(timed, now))
    },
    value: ({ timed }) => (timed && sizeOf(timed.window) > 0 ? pickFrom(summaryOf(timed.window)) : undefined),
  }
}

function sequence(text: string, compiled: CompiledPath, args: readonly string[]): Operand {
  const list = args.slice(0, -1).join(',').trim()
  if (!list.startsWith('[') || !list.endsWith(']')) throw wrong(text, 'lacks a list of states such as [A,B]')
  const wanted = list.slice(1, -1).split(',').map(unquoted)
  if (wanted.length > MAX_LAG) throw wrong(text, `has more than ${MAX_LAG} states`)
  return {
    label: text,
    ...compiled,
    record: (kept, value) => remember(kept, value, wanted.length),
    value: ({ recent = [] }) =>
      Number(recent.length === wanted.length && recent.every((one, i) => String(one) === wanted[i])),
  }
}

function remember(kept: Kept, value: unknown, most: number): void {
  const recent = (kept.recent ??= [])
  recent.push(single(value) ?? null)
  if (recent.length > most) recent.shift()
}

function laggedNumber(text: string, { recent = [] }: Kept, lag: number): number | undefined {
  return recent.length > lag ? numberOf(text, recent[recent.length - 1 - lag]) : undefined
}

function statistic(name: string, summary: Summary): number {
  const [, mean, , least, most, sum] = summary
  if (name === 'avg') return mean
  if (name === 'sum') return sum
  if (name === 'std') return deviation(summary)
  return name === 'max' ? most : least
}

function reachOf(text: string, length: number, unit: string): { samples: number; duration: number } {
  if (!(length > 0)) throw wrong(text, `has the window ${length}; use one above 0`)
  if (unit === 'samples') return { samples: Math.min(length, MAX_SAMPLES), duration: Number.POSITIVE_INFINITY }
  const ms = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  if (ms === undefined) throw wrong(text, `has the unit "${unit}"; use samples, ${Object.keys(UNITS).join(', ')}`)
  return { samples: MAX_SAMPLES, duration: length * ms }
}

function splitArguments(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '[' || character === '(') depth++
    else if (character === ']' || character === ')') depth--
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(from, i).trim())
      from = i + 1
    }
  }
  return [...parts, text.slice(from).trim()].filter((part) => part !== '')
}

function unquoted(text: string): string {
  const trimmed = text.trim()
  return /^(?:'.*'|".*")$/s.test(trimmed) ? trimmed.slice(1, -1) : trimmed
}

function numberOf(label: string, raw: unknown): number {
  const value = ofData(single(raw))
  const number = numberIn(value)
  if (number !== undefined) return number
  const why = whyNoNumber(value)
  if (!isKnown(value)) throw new AppError('BINDING', `<${label}> ${why}`)
  throw new AppError('PLUG_FAILED', `<${label}> must be a number, but ${why}`)
}

function wrong(text: string, what: string): AppError {
  return new AppError(
    'VALIDATION',
    `"<${text}>" ${what}; write <avg(5, minutes, node.field)>, <count(key, node.state)> or <sequence([A,B], node.state)>`,
  )
}
