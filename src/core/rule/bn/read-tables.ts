/** Reads the truth tables of the `bn` form. */
import { at, shown } from '#kernel'
import type { Report } from '../check/report.ts'
import type { RelationType } from '../rule.ts'
import { MAX_CELLS, type BnGraph, type BnNode, type BnTable } from './bn-graph.ts'
import { rowAt, rowCount, shapeOf, type Shape } from './truth-table.ts'

export interface GateTable {
  readonly shape: Shape
  readonly parents: readonly BnNode[]
  readonly trueAt: number
  readonly path: string
}

const TYPES: readonly RelationType[] = ['AND', 'OR', 'GENERAL', 'NAND']

/** Returns all gates of a `bn` form by name. Reports invalid tables, and nodes that are neither sensor nor gate. */
export function readTables(bn: BnGraph, report: Report): ReadonlyMap<string, GateTable> {
  const nodes = new Map(bn.nodes.map((node) => [node.name, node]))
  const gates = new Map<string, GateTable>()
  const named = new Set<string>()
  let left = MAX_CELLS
  bn.posterior.forEach((table, i) => {
    const path = at('', 'posterior', i)
    const [name = ''] = table.nodes
    if (named.has(name)) {
      report.error('TABLE', path, `the node ${shown(name)} has two tables`, 'keep one of them')
      return
    }
    named.add(name)
    left -= table.function.length
    const gate = left < 0 ? tooLarge(path, report) : readTable(table, nodes, path, report)
    if (gate) gates.set(name, gate)
  })
  bn.nodes.forEach(({ name, properties }, i) => {
    if (properties?.sensor !== undefined || named.has(name)) return
    report.error(
      'TABLE',
      at('', 'nodes', i),
      `the node ${shown(name)} is neither a sensor nor a relation`,
      'add properties.sensor, or a table in posterior',
    )
  })
  return gates
}

function tooLarge(path: string, report: Report): undefined {
  report.error('TOO_LARGE', path, `the tables have more than ${MAX_CELLS} numbers in total`, 'use the simplified form')
}

function readTable(
  table: BnTable,
  nodes: ReadonlyMap<string, BnNode>,
  path: string,
  report: Report,
): GateTable | undefined {
  const [name = '', ...parentNames] = table.nodes
  const unknown = table.nodes.findIndex((node) => !nodes.has(node))
  if (unknown >= 0) {
    const text = table.nodes[unknown] ?? ''
    report.error(
      'LABEL',
      at(path, 'nodes', unknown),
      `the table of ${shown(name)} names an unknown node ${shown(text)}`,
      report.suggest(text, nodes.keys(), 'nodes'),
    )
    return undefined
  }
  const gate = nodes.get(name)
  if (gate?.properties?.sensor !== undefined) {
    report.error(
      'TABLE',
      path,
      `the sensor ${shown(name)} has a table`,
      'only relations have a table: remove it, or remove properties.sensor',
    )
    return undefined
  }
  if (gate?.states.length !== 2) {
    report.error(
      'TABLE',
      path,
      `the relation ${shown(name)} has ${gate?.states.length ?? 0} states, expected two`,
      'write "states": ["TRUE", "FALSE"]',
    )
    return undefined
  }
  const parents = parentNames.flatMap((parent) => nodes.get(parent) ?? [])
  const sizes = parents.map(({ states }) => states.length)
  const rows = rowCount(sizes)
  if (rows === 0 || table.function.length !== 2 * rows) {
    report.error(
      'TABLE',
      at(path, 'function'),
      `the table of ${shown(name)} has ${table.function.length} numbers, expected ${2 * rows} (2 x ${sizes.join(' x ')})`,
      'write one number for each combination of states',
    )
    return undefined
  }
  const trueAt = isFalseFirst(gate.states) ? 1 : 0
  if (!isCertain(table, rows, name, path, report)) return undefined
  const trueRows = Uint8Array.from(table.function.slice(trueAt * rows, (trueAt + 1) * rows))
  const hint = TYPES.find((type) => type === gate.properties?.type)
  return { shape: inOrder(shapeOf(trueRows, sizes, hint), gate.properties?.rowOrder, sizes), parents, trueAt, path }
}

/** Puts combinations in their original order, unless the table has changed since. */
function inOrder(shape: Shape, order: readonly number[] | undefined, sizes: readonly number[]): Shape {
  if (order === undefined || shape.type !== 'GENERAL' || order.length !== shape.combinations.length) return shape
  const byRow = new Map(shape.combinations.map((states) => [rowAt(states, sizes), states]))
  const combinations = order.flatMap((row) => {
    const states = byRow.get(row)
    byRow.delete(row)
    return states === undefined ? [] : [states]
  })
  return combinations.length === order.length ? { ...shape, combinations } : shape
}

function isFalseFirst([first, second]: readonly string[]): boolean {
  return first?.toUpperCase() === 'FALSE' && second?.toUpperCase() === 'TRUE'
}

/** Whether all numbers are 0 or 1, and the second half is the inverse of the first. */
function isCertain(table: BnTable, rows: number, name: string, path: string, report: Report): boolean {
  const bad = table.function.findIndex((value) => value !== 0 && value !== 1)
  if (bad >= 0) {
    report.error(
      'TABLE',
      at(path, 'function', bad),
      `the table of ${shown(name)} has the probability ${table.function[bad]}`,
      'write only 0 and 1',
    )
    return false
  }
  for (let row = 0; row < rows; row++) {
    if (table.function[row] !== table.function[rows + row]) continue
    report.error(
      'TABLE',
      at(path, 'function', rows + row),
      `the table of ${shown(name)} has the same probability for both states, ${table.function[row]}`,
      'write the second half as 1 minus the first',
    )
    return false
  }
  return true
}
