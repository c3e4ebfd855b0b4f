/** Parses values of a sweep from texts such as `70..90/5`. */
import { AppError } from '#kernel'

export const MAX_SWEEP_RUNS = 1000

const NUMBER = /^-?\d+(?:\.\d+)?$/
const FORMS = 'use a range with its step such as 70..90/5, a list such as 70,75,90, or one value'

/**
 * Parses `70..90/5` (inclusive), `70,75,90`, or one value, each as JSON if possible, otherwise as text. Throws
 * `VALIDATION` for an invalid range, `TOO_LARGE` above 1,000 values.
 */
export function sweepValues(text: string): readonly unknown[] {
  const trimmed = text.trim()
  if (trimmed === '') throw new AppError('VALIDATION', `the value is missing; ${FORMS}`)
  const whole = parsed(trimmed)
  if (whole !== undefined) return [whole]
  const dots = trimmed.indexOf('..')
  if (dots > 0 && !trimmed.includes(',')) return range(trimmed, dots)
  const values = trimmed.split(',').map((part) => part.trim())
  if (values.includes('')) throw new AppError('VALIDATION', `"${text}" has an empty item; ${FORMS}`)
  return bounded(values.length, text, values.map(jsonOrText))
}

function range(text: string, dots: number): readonly unknown[] {
  const slash = text.indexOf('/', dots)
  const from = text.slice(0, dots)
  const to = text.slice(dots + 2, slash === -1 ? undefined : slash)
  if (slash === -1) throw new AppError('VALIDATION', `the range "${text}" lacks a step; ${FORMS}`)
  const step = text.slice(slash + 1)
  for (const part of [from, to, step]) {
    if (!NUMBER.test(part) || !Number.isFinite(Number(part)))
      throw new AppError('VALIDATION', `"${part}" in the range "${text}" is not a number; ${FORMS}`)
  }
  const width = Number(step)
  if (width <= 0) throw new AppError('VALIDATION', `the step of "${text}" must be above 0; ${FORMS}`)
  const first = Number(from)
  const last = Number(to)
  // adds a little, since 0.3 / 0.1 is slightly below 3
  const steps = Math.floor((Math.abs(last - first) / width) * (1 + 1e-12) + 1e-9)
  const digits = Math.min(15, Math.max(decimals(from), decimals(step)))
  const sign = last < first ? -1 : 1
  return bounded(
    steps + 1,
    text,
    steps < MAX_SWEEP_RUNS
      ? // adding 0 turns -0 into 0
        Array.from({ length: steps + 1 }, (_, i) => Number((first + sign * i * width).toFixed(digits)) + 0)
      : [],
  )
}

function bounded(count: number, text: string, values: readonly unknown[]): readonly unknown[] {
  if (count <= MAX_SWEEP_RUNS) return values
  const most = MAX_SWEEP_RUNS.toLocaleString('en-US')
  throw new AppError(
    'TOO_LARGE',
    `"${text}" has ${count.toLocaleString('en-US')} values, more than ${most}; use a larger step`,
  )
}

function decimals(text: string): number {
  const point = text.indexOf('.')
  return point === -1 ? 0 : text.length - point - 1
}

function jsonOrText(text: string): unknown {
  const value = parsed(text)
  return value === undefined ? text : value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
