/** The report of a failing case: the messages, the firings, and how to reproduce it. */
import type { FiredEvent, Message } from '#core'
import { instantOf } from '#core/spi'
import type { CheckedRun } from './checked-run.ts'
import { instantText, lengthText } from './moment-text.ts'

const MAX_MESSAGES = 50
const MAX_FIRINGS = 20

/** One line per message: its number, time, resource and values, and how late it was. */
export function messageLines(messages: readonly Message[]): readonly string[] {
  let clock = Number.NEGATIVE_INFINITY
  const lines = messages.map((message, i) => {
    const { resource, timestamp: _timestamp, ...values } = message
    const time = instantOf(message, i + 1)
    const late = clock > time ? `  (late by ${lengthText(clock - time)})` : ''
    clock = Math.max(clock, time)
    return `${String(i + 1).padStart(4)}  ${instantText(time)}  ${resource}  ${valuesText(values)}${late}`
  })
  return cut(lines, MAX_MESSAGES)
}

export function firingLines(run: Pick<CheckedRun, 'firings'>): readonly string[] {
  return cut(run.firings().map(firingText), MAX_FIRINGS)
}

function firingText({ time, node, source, why }: FiredEvent): string {
  const { matched, to } = why?.trigger ?? { matched: 'execution' as const, to: null }
  const how =
    matched === 'execution' ? `${source} ran` : matched === 'state' ? `${source} is ${to}` : `${source} became ${to}`
  return `      ${instantText(time)}  ${node}, because ${how}`
}

function valuesText(values: Readonly<Record<string, unknown>>): string {
  const said = Object.entries(values).map(([key, value]) => `${key} ${valueText(value)}`)
  return said.length === 0 ? 'no values' : said.join(', ')
}

function valueText(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}

function cut(lines: readonly string[], most: number): readonly string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most), `      and ${lines.length - most} more`]
}
