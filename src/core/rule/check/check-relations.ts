/** Checks parents and rows of relations. */
import { memberLabels } from './members.ts'
import type { RelationType } from '../rule.ts'
import type { Report } from './report.ts'
import {
  checkState,
  naming,
  type NodeEntry,
  nodeNamed,
  type RelationEntry,
  type RuleIndex,
  statesOf,
} from './rule-index.ts'
import { at, removing, shown } from '#kernel'

/**
 * Returns the labels of valid relations whose parents have one state each: every parent is known and every row fits the
 * parents.
 */
export function checkRelations(index: RuleIndex, report: Report): ReadonlySet<string> {
  const sound = new Set<string>()
  const members = memberLabels(index)
  for (const entry of index.relations) {
    const parents = checkParents(entry, index, report)
    const rows = checkRows(entry, parents, report)
    const limits = checkLimits(entry, report)
    if (
      rows &&
      limits &&
      parents.every((parent) => parent !== undefined && statesOf(parent) !== undefined && !members.has(parent.label))
    )
      sound.add(entry.label)
  }
  return sound
}

function checkParents(entry: RelationEntry, index: RuleIndex, report: Report): readonly (NodeEntry | undefined)[] {
  const { label, path, node } = entry
  const seen = new Set<string>()
  return (node.parentLabels ?? []).map((parentLabel, i) => {
    const parentPath = at(path, 'parentLabels', i)
    const parent = nodeNamed(parentLabel, 'actuator', { index, path: parentPath, subject: naming(entry) }, report)
    if (parent === undefined) return undefined
    if (parent.kind === 'actuator') {
      report.error(
        'GATE',
        parentPath,
        `relation ${shown(label)} has the actuator ${shown(parentLabel)} as parent`,
        'actuators have no states; name a sensor or a relation',
      )
      return undefined
    }
    if (seen.has(parentLabel)) {
      report.warning(
        'GATE',
        parentPath,
        `relation ${shown(label)} names the parent ${shown(parentLabel)} twice`,
        'name it once; use GENERAL rows for several states',
      )
    }
    seen.add(parentLabel)
    return parent
  })
}

function checkRows(entry: RelationEntry, parents: readonly (NodeEntry | undefined)[], report: Report): boolean {
  const { label, path, node } = entry
  const rows = node.combinations
  if (rows === undefined || node.type === undefined || node.parentLabels === undefined) return false
  const where = at(path, 'combinations')
  let fits = rowCountFits(node.type, rows.length, label, where, report)
  const seen = new Map<string, number>()
  rows.forEach((row, i) => {
    fits = checkRow(row, parents, label, at(where, i), report) && fits
    const key = JSON.stringify(row)
    const earlier = seen.get(key)
    if (earlier === undefined) seen.set(key, i)
    else
      report.warning(
        'GATE',
        at(where, i),
        `relation ${shown(label)} lists ${shown(row)} twice, first as row ${earlier}`,
        'omit one of them',
      )
  })
  return fits
}

/** Checks the limits of COUNT and SHARE. Returns whether the relation has the limits that its type requires. */
function checkLimits({ label, path, node }: RelationEntry, report: Report): boolean {
  const { type, atLeast, atMost } = node
  const counts = type === 'COUNT' || type === 'SHARE'
  if (!counts) {
    for (const field of ['atLeast', 'atMost', 'within', 'fresh'] as const) {
      if (type === undefined || node[field] === undefined) continue
      const message = `${type} relation ${shown(label)}: ${field} has no effect, only COUNT and SHARE have it`
      report.warning('FIELD', at(path, field), message, { text: 'omit it, or make the relation COUNT', fix: removing })
    }
    return type !== undefined
  }
  const example = type === 'COUNT' ? '"atLeast": 3' : '"atLeast": 0.5'
  if (atLeast === undefined && atMost === undefined) {
    report.error('GATE', path, `${type} relation ${shown(label)} has no limit`, `write ${example} or "atMost"`)
    return false
  }
  let fits = true
  for (const [field, limit] of [
    ['atLeast', atLeast],
    ['atMost', atMost],
  ] as const) {
    if (limit === undefined || (type === 'COUNT' ? Number.isInteger(limit) : limit <= 1)) continue
    const wanted = type === 'COUNT' ? 'a whole number' : 'a share from 0 to 1'
    report.error(
      'GATE',
      at(path, field),
      `${type} relation ${shown(label)}: ${field} ${limit} is not ${wanted}`,
      `write ${wanted}, such as ${example}`,
    )
    fits = false
  }
  if (atLeast === undefined || atMost === undefined || atLeast <= atMost) return fits
  report.error(
    'GATE',
    at(path, 'atMost'),
    `${type} relation ${shown(label)}: atMost ${atMost} is below atLeast ${atLeast}`,
    'swap them',
  )
  return false
}

function rowCountFits(type: RelationType, count: number, label: string, where: string, report: Report): boolean {
  if (type === 'GENERAL' || count === 1) return true
  report.error(
    'GATE',
    where,
    `${type} relation ${shown(label)} has ${count} combinations, expected one`,
    'keep one row, or make it GENERAL to list several',
  )
  return false
}

function checkRow(
  row: readonly string[],
  parents: readonly (NodeEntry | undefined)[],
  label: string,
  where: string,
  report: Report,
): boolean {
  if (row.length !== parents.length) {
    report.error(
      'GATE',
      where,
      `relation ${shown(label)} has ${parents.length} parents, but this combination has ${row.length} states: ${shown(row)}`,
      rowExample(parents),
    )
    return false
  }
  let fits = true
  row.forEach((state, i) => {
    const parent = parents[i]
    if (parent && !checkState(state, parent, at(where, i), `relation ${shown(label)}`, report)) fits = false
  })
  return fits
}

function rowExample(parents: readonly (NodeEntry | undefined)[]): string {
  const row = parents.map((parent) => (parent && statesOf(parent)?.[0]) ?? '...')
  return `write one state for each parent, such as [${shown(row)}]`
}
