/** Determines, by enumerating all combinations of sensor states, which results and rows of relations are possible. */
import { allowsNumber } from '../count-limits.ts'
import type { Relation } from '../rule.ts'
import type { Report } from './report.ts'
import { statesOf, type RelationEntry, type RuleIndex } from './rule-index.ts'
import { at, shown } from '#kernel'

const MAX_ASSIGNMENTS = 4096
const MAX_CONE = 256
/** Maximum number of parent look-ups for a whole rule, which takes some tens of ms. */
const MAX_WORK = 4_000_000

interface Cone {
  readonly sensors: ReadonlyMap<string, readonly string[]>
  /** the relation and the gates that it depends on, parents first */
  readonly gates: readonly Relation[]
}

/** Warns of rows that never hold, and of gates that never change. Considers only `usable` relations. */
export function checkReach(index: RuleIndex, usable: ReadonlySet<string>, report: Report): void {
  let work = MAX_WORK
  for (const entry of index.relations) {
    if (!usable.has(entry.label) || index.nodes.get(entry.label)?.path !== entry.path) continue
    const cone = coneOf(entry, index, usable, Math.min(work, MAX_ASSIGNMENTS))
    if (cone === undefined) continue
    work -= explore(entry, cone, work, report)
  }
}

/** Undefined if one of these gates is unusable or the limits are exceeded. */
function coneOf(entry: RelationEntry, index: RuleIndex, usable: ReadonlySet<string>, limit: number): Cone | undefined {
  const sensors = new Map<string, readonly string[]>()
  const gates: Relation[] = []
  const seen = new Set([entry.label])
  const stack = [{ gate: entry.node as Relation, next: 0 }]
  let assignments = 1
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const label = top.gate.parentLabels[top.next++]
    if (label === undefined) {
      gates.push(top.gate)
      stack.pop()
      continue
    }
    if (seen.has(label)) continue
    seen.add(label)
    const parent = index.nodes.get(label)
    if (parent?.kind === 'relation') {
      if (!usable.has(label) || seen.size > MAX_CONE) return undefined
      // earlier checks admit only complete relations to `usable`
      stack.push({ gate: parent.node as Relation, next: 0 })
      continue
    }
    const states = parent && statesOf(parent)
    if (states === undefined) return undefined
    sensors.set(label, states)
    assignments *= states.length
    if (assignments > limit) return undefined
  }
  return { sensors, gates }
}

function explore(entry: RelationEntry, cone: Cone, budget: number, report: Report): number {
  const relation = entry.node as Relation
  const lists = [...cone.sensors]
  const total = lists.reduce((product, [, states]) => product * states.length, 1)
  const cost = total * cone.gates.reduce((sum, gate) => sum + gate.combinations.length * gate.parentLabels.length, 0)
  if (cost > budget || total === 0) return 0
  const hit = relation.combinations.map(() => false)
  const results = new Set<boolean>()
  const current = new Map<string, string>()
  for (let number = 0; number < total; number++) {
    let rest = number
    for (const [label, states] of lists) {
      current.set(label, states[rest % states.length] ?? '')
      rest = Math.floor(rest / states.length)
    }
    for (const gate of cone.gates) current.set(gate.label, holds(gate, current) ? 'TRUE' : 'FALSE')
    results.add(current.get(relation.label) === 'TRUE')
    relation.combinations.forEach((row, i) => {
      if (!hit[i] && rowHolds(relation, row, current)) hit[i] = true
    })
  }
  reportFindings(entry, relation, hit, results, report)
  return cost
}

function holds(gate: Relation, current: ReadonlyMap<string, string>): boolean {
  switch (gate.type) {
    case 'OR':
      return gate.parentLabels.some((label, i) => current.get(label) === gate.combinations[0]?.[i])
    case 'COUNT':
    case 'SHARE':
      return isCounted(gate, current)
    case 'NAND':
      return !gate.combinations.some((row) => rowHolds(gate, row, current))
    default:
      return gate.combinations.some((row) => rowHolds(gate, row, current))
  }
}

function isCounted(gate: Relation, current: ReadonlyMap<string, string>): boolean {
  const [row = []] = gate.combinations
  const met = gate.parentLabels.filter((label, i) => current.get(label) === row[i])
  return allowsNumber(gate, met.length, row.length)
}

function rowHolds(gate: Relation, row: readonly string[], current: ReadonlyMap<string, string>): boolean {
  return row.every((state, i) => current.get(gate.parentLabels[i] ?? '') === state)
}

function reportFindings(
  entry: RelationEntry,
  relation: Relation,
  hit: readonly boolean[],
  results: ReadonlySet<boolean>,
  report: Report,
): void {
  if (results.size === 1) {
    const always = results.has(true) ? 'TRUE' : 'FALSE'
    report.warning(
      'GATE',
      entry.path,
      `relation ${shown(relation.label)} is ${always} whatever its parents are`,
      'omit it, or change its combinations',
    )
    // a warning about the whole gate covers its rows
    if (relation.type !== 'GENERAL' || always === 'FALSE') return
  }
  if (relation.type !== 'GENERAL') return
  hit.forEach((reached, i) => {
    if (reached) return
    report.warning(
      'GATE',
      at(entry.path, 'combinations', i),
      `relation ${shown(relation.label)}: ${shown(relation.combinations[i])} can never hold, because the gates above exclude it`,
      'omit the row, or change a gate above',
    )
  })
}
