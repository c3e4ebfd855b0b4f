/** Evaluates XGBoost boosters with 32-bit floats as in the library, so that results are equal. */
import type { Objective } from './objectives.ts'

export interface Booster {
  readonly features: number
  readonly featureNames: readonly string[]
  /** number of values per row: classes or targets */
  readonly groups: number
  readonly objective: Objective
  readonly margins: Float32Array
  readonly model: TreeModel | LinearModel
  readonly version?: string
  /** best round of early stopping, from 0; present when later rounds exist */
  readonly bestIteration?: number
}

export interface TreeModel {
  readonly kind: 'trees'
  readonly trees: readonly Tree[]
}

export interface Tree {
  readonly group: number
  readonly weight: number
  /** child of each node; -1 for a leaf */
  readonly left: Int32Array
  readonly right: Int32Array
  readonly feature: Int32Array
  readonly value: Float32Array
  readonly defaultLeft: Uint8Array
  readonly categories: ReadonlyMap<number, ReadonlySet<number>>
}

export interface LinearModel {
  readonly kind: 'linear'
  readonly weights: Float32Array
}

/** Exclusive upper bound of categories, which are integers. */
const MAX_CATEGORY = 16_777_216

/** Sums the trees for one row by group, before the objective is applied. Missing features are NaN. */
export function marginsOf({ model, margins, groups, features }: Booster, row: Float32Array): Float32Array {
  const sums = margins.slice()
  if (model.kind === 'linear') addLinear(model, row, { sums, groups, features })
  else {
    for (const tree of model.trees) {
      const leaf = leafOf(tree, row)
      const { group, weight } = tree
      // storing in the array rounds each sum to 32 bits
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
