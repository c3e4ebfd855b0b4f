/** Determines what begins the invocations of a rule, as graph/plan.ts does, but for a rule that may be invalid. */
import type { PartialRule, PlugEntry, RuleIndex } from './rule-index.ts'

const MAX_BEGINNINGS = 20

export interface Invocations {
  readonly byClock: ReadonlySet<string>
  /** labels that clocks or data renew */
  readonly byAny: ReadonlySet<string>
  /** number of combinations of resource and channel whose messages begin invocations */
  readonly sources: number
  /** per kind of invocation, what it renews; undefined if there are too many kinds */
  kinds(): readonly ReadonlySet<string>[] | undefined
}

interface Beginnings {
  readonly ticked: readonly string[]
  readonly clocked: readonly string[]
  /** sensors that run on messages, by resource, or by channel and resource */
  readonly listeners: ReadonlyMap<string, readonly string[]>
}

export function invocationsOf(rule: PartialRule, index: RuleIndex, hasTick: boolean): Invocations {
  const { ticked, clocked, listeners } = beginningsOf(index, hasTick)
  const next = linksOf(rule, index)
  const beginnings = [ticked, ...clocked.map((label) => [label]), ...listeners.values()].filter(
    ({ length }) => length > 0,
  )
  let kinds: readonly ReadonlySet<string>[] | undefined
  return {
    byClock: reached([...ticked, ...clocked], next),
    byAny: reached(beginnings.flat(), next),
    sources: listeners.size,
    kinds: () =>
      beginnings.length > MAX_BEGINNINGS ? undefined : (kinds ??= beginnings.map((roots) => reached(roots, next))),
  }
}

function beginningsOf(index: RuleIndex, hasTick: boolean): Beginnings {
  const ticked: string[] = []
  const clocked: string[] = []
  const listeners = new Map<string, string[]>()
  for (const entry of index.plugNodes) {
    const { label, node, plug } = entry
    if (entry.kind !== 'sensor' || label === '') continue
    const { resource = '', dataTrigger } = node
    const conditional = index.conditional.has(label)
    const hasClock = node.pollingPeriod !== undefined || node.schedule !== undefined
    if (!conditional && plug?.channel === undefined) {
      if (hasClock) clocked.push(label)
      else if (hasTick && node.tickTrigger !== false) ticked.push(label)
    }
    if (resource === '' || !runsOnMessages(entry, conditional, dataTrigger)) continue
    const key = JSON.stringify([plug?.channel ?? '', resource])
    listeners.set(key, [...(listeners.get(key) ?? []), label])
  }
  return { ticked, clocked, listeners }
}

function runsOnMessages({ plug }: PlugEntry, conditional: boolean, dataTrigger: boolean | undefined): boolean {
  if (plug?.channel !== undefined) return true
  return conditional ? dataTrigger === true : dataTrigger !== false
}

type Links = ReadonlyMap<string, readonly string[]>

function linksOf(rule: PartialRule, index: RuleIndex): Links {
  const links = new Map<string, string[]>()
  const link = (from: string, to: string): void => {
    const known = links.get(from)
    if (known) known.push(to)
    else links.set(from, [to])
  }
  for (const { label, node } of index.relations) for (const parent of node.parentLabels ?? []) link(parent, label)
  for (const { sourceLabel = '', destinationLabel = '' } of rule.triggers ?? [])
    if (index.conditional.has(destinationLabel)) link(sourceLabel, destinationLabel)
  return links
}

function reached(roots: readonly string[], next: Links): ReadonlySet<string> {
  const found = new Set(roots)
  for (const label of found) for (const follower of next.get(label) ?? []) found.add(follower)
  return found
}
