/**
 * A booster of XGBoost as it is evaluated: trees as arrays of numbers, in the order of their nodes. It computes in 32
 * bits wherever the library does, so that both say the same.
 */
import type { Objective } from './objectives.ts'

export interface Booster {
  readonly features: number
  /** empty: they have none */
  readonly featureNames: readonly string[]
  /** values of one row: classes or targets */
  readonly groups: number
  readonly objective: Objective
  /** before its trees, by group, as the objective adds them up */
  readonly margins: Float32Array
  readonly model: TreeModel | LinearModel
  /** of the library that wrote it, as far as it says so */
  readonly version?: string
  /** counted from 0: the round at which early stopping found it best, when others follow */
  readonly bestIteration?: number
}

export interface TreeModel {
  readonly kind: 'trees'
  readonly trees: readonly Tree[]
}

export interface Tree {
  /** which value of a row it adds to */
  readonly group: number
  /** what its leaves are multiplied with: of DART, else 1 */
  readonly weight: number
  /** by node; -1: a leaf */
  readonly left: Int32Array
  readonly right: Int32Array
  /** the feature that a node asks about */
  readonly feature: Int32Array
  /** the limit of a node, or the value of a leaf */
  readonly value: Float32Array
  /** 1: a row without the feature goes left */
  readonly defaultLeft: Uint8Array
  /** of nodes that ask about a category: those that go right */
  readonly categories: ReadonlyMap<number, ReadonlySet<number>>
}

export interface LinearModel {
  readonly kind: 'linear'
  /** by feature and group, and the bias of each group at the end */
  readonly weights: Float32Array
}

/** Categories are whole numbers below it. */
const MAX_CATEGORY = 16_777_216

/** What the booster says of one row, whose missing features are NaN: a value for each group, before the objective. */
export function marginsOf({ model, margins, groups, features }: Booster, row: Float32Array): Float32Array {
  const sums = margins.slice()
  if (model.kind === 'linear') addLinear(model, row, { sums, groups, features })
  else {
    for (const tree of model.trees) {
      const leaf = leafOf(tree, row)
      const { group, weight } = tree
      // each sum is rounded to 32 bits by the array that keeps it
      sums[group] = (sums[group] ?? 0) + (weight === 1 ? leaf : Math.fround(leaf * weight))
    }
  }
  return sums
}

function leafOf({ left, right, feature, value, defaultLeft, categories }: Tree, row: Float32Array): number {
  let node = 0
  for (let next = left[node] ?? -1; next >= 0; next = left[node] ?? -1) {
    const known = row[feature[node] ?? 0] ?? Number.NaN
    const goesLeft = Number.isNaN(known)
      ? defaultLeft[node] === 1
      : categories.size > 0 && categories.has(node)
        ? !hasCategory(categories.get(node), known)
        : known < (value[node] ?? 0)
    node = goesLeft ? next : (right[node] ?? 0)
  }
  return value[node] ?? 0
}

function hasCategory(right: ReadonlySet<number> | undefined, known: number): boolean {
  return known >= 0 && known < MAX_CATEGORY && right?.has(Math.trunc(known)) === true
}

function addLinear(
  { weights }: LinearModel,
  row: Float32Array,
  { sums, groups, features }: { readonly sums: Float32Array; readonly groups: number; readonly features: number },
): void {
  for (let group = 0; group < groups; group++) {
    let sum = Math.fround((sums[group] ?? 0) + (weights[features * groups + group] ?? 0))
    for (let at = 0; at < features; at++) {
      const known = row[at] ?? Number.NaN
      if (Number.isNaN(known)) continue
      sum = Math.fround(sum + Math.fround(known * (weights[at * groups + group] ?? 0)))
    }
    sums[group] = sum
  }
}
