/** Formats the totals of a run: a table of nodes, and errors. */
import type { HeldReason } from '#core'
import type { ReadingCounts } from '#core/spi'
import { counted, grouped } from '../numbers.ts'
import type { Paint } from '../terminal.ts'
import { formatSpan, formatTime } from '../time-text.ts'
import type { Zone } from '../zone.ts'
import { visible } from '../visible.ts'
import { tableLines } from './table.ts'
import type { NodeTally, Tally } from './tally.ts'

const MAX_ERRORS = 10
const HELD: Readonly<Record<HeldReason, string>> = {
  invocationPolicy: 'by cool-down',
  overlap: 'by unfinished work',
  queue: 'by a full queue',
}

export interface RunFacts {
  messages: number
  /** Number of messages older than the clock, processed at the clock's time */
  late: number
  readings?: ReadingCounts | undefined
  span: number
  /** Longest time that an input waited for earlier ones, in ms */
  lag?: number
  wall: number
}

export function summaryLines(tally: Tally, facts: RunFacts, zone: Zone, paint: Paint): string[] {
  const [header = '', ...rows] = tableLines(
    [['node', 'plug or gate', 'runs', 'changes', 'fired', 'errors', 'held back'], ...tally.nodes.map(row)],
    new Set([2, 3, 4, 5]),
  )
  const lines = [paint('underline', header), ...rows, '', ...errorLines(tally, zone, paint)]
  const work = [
    counted(facts.messages, 'message'),
    counted(tally.invocations, 'invocation'),
    counted(tally.fired, 'firing'),
    `${formatSpan(facts.span)} of virtual time in ${formatSpan(facts.wall)}`,
  ]
  if (facts.messages > 0)
    work.push(`${grouped(Math.round((facts.messages * 1000) / Math.max(1, facts.wall)))} messages/s`)
  lines.push(paint('bold', work.join(', ')))
  if (facts.lag !== undefined && facts.lag > 0)
    lines.push(`inputs waited up to ${formatSpan(facts.lag)} for earlier ones; the same nodes fire, but later`)
  if (facts.late > 0) lines.push(`${counted(facts.late, 'message')} had a timestamp before the time of the clock`)
  const { late = 0, duplicate = 0, skewed = 0 } = facts.readings ?? {}
  const odd = Object.entries({ late, duplicate, skewed }).filter(([, count]) => count > 0)
  if (odd.length > 0) lines.push(`readings out of order: ${odd.map(([why, n]) => `${grouped(n)} ${why}`).join(', ')}`)
  return lines
}

function row(node: NodeTally): string[] {
  const counts = [node.executions, node.changes, node.fired, node.errors]
  const held = [...node.held].map(([reason, count]) => `${grouped(count)} ${HELD[reason]}`)
  return [node.label, node.what, ...counts.map((count) => (count === 0 ? '-' : grouped(count))), held.join(', ')]
}

function errorLines(tally: Tally, zone: Zone, paint: Paint): string[] {
  const { errors, failure } = tally
  const lines = errors.slice(0, MAX_ERRORS).map(({ node, text, count, first }) => {
    const often =
      count === 1
        ? `once, at ${formatTime(first, zone)}`
        : `${grouped(count)} times, first at ${formatTime(first, zone)}`
    return `${paint('red', 'error')}  ${node}: ${visible(text)} (${often})`
  })
  if (errors.length > MAX_ERRORS)
    lines.push(`${paint('red', 'error')}  and ${counted(errors.length - MAX_ERRORS, 'more kind')}`)
  if (failure !== undefined) lines.push(`${paint('red', 'the task failed')}: ${failure}`)
  return lines.length > 0 ? [...lines, ''] : []
}
