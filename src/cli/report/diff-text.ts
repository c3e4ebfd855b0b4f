/** Formats the differences of two rules as lines of text. */
import type { Diff, Difference, DiffFiring, Parting, TriggerExplanation } from '#core'
import { causeOf, heldText, valuesText, wayText } from '#core/sentences'
import type { PartingSide } from '#core/spi'
import { counted, grouped } from '../numbers.ts'
import type { Paint } from '../terminal.ts'
import { formatSpan, formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'
import { tableLines } from './table.ts'

const SHOWN = 50

export function partingLines(parted: Parting | null, zone: Zone, paint: Paint): string[] {
  if (parted === null) return []
  const { time, input, node } = parted
  const { message, number } = input
  const position =
    number === undefined ? (input.kind === 'start' ? ', at the start' : '') : `, message ${grouped(number)}`
  const said = message === undefined ? '' : ` (${visible(`${message.resource}: ${valuesText(message)}`)})`
  const about = node ?? 'the task'
  return [
    `${paint('bold', 'They part')} at ${formatTime(time, zone)}${position}${said}`,
    `  ${paint('dim', 'old')}  ${visible(sideText(about, parted.old))}`,
    `  ${paint('dim', 'new')}  ${visible(sideText(about, parted.new))}`,
    '',
  ]
}

export function differenceLines(
  { differences, more }: Diff,
  { zone, paint, all }: { zone: Zone; paint: Paint; all: boolean },
): string[] {
  if (differences.length === 0) return []
  const shown = all ? differences : differences.slice(0, SHOWN)
  const width = Math.min(30, Math.max(...shown.map(({ node }) => node.length)))
  const lines = shown.flatMap((difference) => {
    const stamp = formatTime(difference.time, zone)
    const indent = ' '.repeat(stamp.length + 2)
    const head = `${paint('dim', stamp)}  ${paint(['bold', 'yellow'], difference.node.padEnd(width))}  `
    return [`${head}${kindText(difference, zone)}`, ...reasonLines(difference).map((line) => indent + visible(line))]
  })
  const left = differences.length - shown.length
  if (left > 0) lines.push(paint('dim', `... and ${counted(left, 'more difference')} (--all prints them)`))
  if (more > 0) lines.push(paint('dim', `... and ${counted(more, 'more difference')} that are not listed`))
  return [...lines, '']
}

export function verdictLines(diff: Diff, paint: Paint): string[] {
  const header = ['node', 'old', 'new', 'equal', 'moved', 'only old', 'only new']
  const cells = diff.nodes.map(({ node, old, new: fresh, equal, moved, onlyOld, onlyNew }) => [
    node,
    ...[old, fresh, equal, moved, onlyOld, onlyNew].map((count) => (count === 0 ? '-' : grouped(count))),
  ])
  const [head = '', ...rows] = tableLines([header, ...cells], new Set([1, 2, 3, 4, 5, 6]))
  const count = diff.differences.length + diff.more
  const summary = diff.equal
    ? `No difference over ${counted(diff.messages, 'message')}`
    : `${counted(count, 'difference')} over ${counted(diff.messages, 'message')}`
  const lines = [paint('underline', head), ...rows, '', paint('bold', summary)]
  if (diff.late > 0) lines.push(`${counted(diff.late, 'message')} had a timestamp before the time of the clock`)
  return lines
}

function kindText(difference: Difference, zone: Zone): string {
  if (difference.kind === 'onlyOld') return `only in old: ${causeText(difference.old)}`
  if (difference.kind === 'onlyNew') return `only in new: ${causeText(difference.new)}`
  const { by } = difference
  const moved = `${formatSpan(Math.abs(by))} ${by < 0 ? 'earlier' : 'later'}`
  return `${moved} in new, at ${formatTime(difference.new.time, zone)}: ${causeText(difference.new)}`
}

function causeText(firing: DiffFiring): string {
  return visible(causeOf(firing))
}

export function reasonLines(difference: Difference): readonly string[] {
  const oldFirst = difference.kind === 'onlyOld' || (difference.kind === 'moved' && difference.by > 0)
  const firing = difference.kind === 'onlyNew' || !oldFirst ? difference.new : difference.old
  return heldLines(oldFirst ? 'new' : 'old', firing.other, firing.source)
}

function heldLines(side: string, triggers: readonly TriggerExplanation[] | undefined, source: string): string[] {
  if (triggers === undefined) return []
  const same = triggers.filter((trigger) => trigger.source === source)
  return (same.length > 0 ? same : triggers).flatMap(({ blocked, ways, condition }) => {
    const held = blocked.map(({ message }) => message).join(', ')
    const wanted = ways.length === 0 ? '' : `; needs ${ways.map(wayText).join(', or ')}`
    return [`${side}: ${held === '' ? `not yet: ${condition}` : held}${wanted}`]
  })
}

function sideText(node: string, { event, state, rawData, blocked }: PartingSide): string {
  const data = typeof rawData === 'object' && rawData !== null ? ` (${valuesText({ ...rawData })})` : ''
  switch (event?.type) {
    case undefined: {
      const [held] = blocked ?? []
      const reason = held?.blocked.map(({ message }) => message).join(', ') ?? ''
      if (reason !== '') return `${node} did not fire: ${reason}`
      return state === null ? `${node} was not triggered` : `${node} stayed ${state}${data}`
    }
    case 'state':
    case 'gate':
      return `${node} became ${event.to ?? 'unknown'}${data}`
    case 'fired':
      return `${node} fired because of ${causeOf(event)}`
    case 'held':
      return heldText(event)
    case 'evicted':
      return `${node} was forgotten`
    case 'stopped':
      return 'the task stopped'
    case 'failed':
      return `the task failed: ${event.error}`
  }
}
