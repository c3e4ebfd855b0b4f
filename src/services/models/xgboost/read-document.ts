/** Parses the JSON or UBJSON document of an XGBoost booster. */
import { AppError, isPlainObject, ownValue } from '#kernel'
import type { Booster, LinearModel, Tree, TreeModel } from './booster.ts'
import { type Objective, objectiveOf } from './objectives.ts'

export const MAX_GROUPS = 10_000
export const MAX_FEATURES = 1_000_000

export function readDocument(document: unknown): Booster {
  const learner = member(document, 'learner')
  const parameters = member(learner, 'learner_model_param')
  const objective = requireObjective(ownValue(member(learner, 'objective'), 'name'))
  const features = wholeOf(parameters, 'num_feature', MAX_FEATURES)
  const classes = wholeOf(parameters, 'num_class', MAX_GROUPS)
  const targets = ownValue(parameters, 'num_target') === undefined ? 1 : wholeOf(parameters, 'num_target', MAX_GROUPS)
  const groups = Math.max(classes, targets, 1)
  const model = modelOf(member(learner, 'gradient_booster'), groups, features)
  const margins = marginsOf(ownValue(parameters, 'base_score'), groups, objective)
  const names = ownValue(learner, 'feature_names')
  const version = ownValue(document, 'version')
  return {
    features,
    featureNames: Array.isArray(names) ? names.map(String) : [],
    groups,
    objective,
    // XGBoost 3.2 does not add the base scores of several classes to a linear model
    margins: model.kind === 'linear' && groups > 1 && major(version) >= 3 ? new Float32Array(groups) : margins,
    model,
    ...bestIterationOf(learner, model),
    ...(Array.isArray(version) && { version: version.join('.') }),
  }
}

function bestIterationOf(learner: unknown, model: Booster['model']): Pick<Booster, 'bestIteration'> {
  const best = Number(ownValue(ownValue(learner, 'attributes'), 'best_iteration') ?? Number.NaN)
  if (!Number.isSafeInteger(best) || best < 0 || model.kind === 'linear') return {}
  const { length: trees } = model.trees
  const gradient = ownValue(learner, 'gradient_booster')
  const treeModel = ownValue(ownValue(gradient, 'gbtree') ?? gradient, 'model')
  const starts = ownValue(treeModel, 'iteration_indptr')
  const rounds = Array.isArray(starts) ? starts.length - 1 : trees
  return rounds > best + 1 ? { bestIteration: best } : {}
}

function major(version: unknown): number {
  return Array.isArray(version) ? Number(version[0]) : 0
}

export function requireObjective(name: unknown): Objective {
  const objective = typeof name === 'string' ? objectiveOf(name) : undefined
  if (objective !== undefined) return objective
  throw new AppError('VALIDATION', `the objective ${JSON.stringify(name)} of the booster is not supported`)
}

/** Reads the base score: a single number or, since 3.1, a list. */
function marginsOf(base: unknown, groups: number, { marginOf }: Objective): Float32Array {
  const texts = String(base)
    .replaceAll(/[[\]\s]/g, '')
    .split(',')
  const scores = texts.map(Number)
  const areGood = scores.every(Number.isFinite) && (scores.length === 1 || scores.length === groups)
  if (!areGood || texts.includes('')) throw wrong(`its base_score is ${JSON.stringify(base)}`)
  return Float32Array.from({ length: groups }, (_, at) => marginOf(Math.fround(scores[at] ?? scores[0] ?? 0)))
}

function modelOf(booster: unknown, groups: number, features: number): TreeModel | LinearModel {
  const name = ownValue(booster, 'name')
  if (name === 'gblinear') {
    const weights = numbersOf(member(booster, 'model'), 'weights')
    if (weights.length !== (features + 1) * groups) throw wrong(`it has ${weights.length} weights`)
    return { kind: 'linear', weights: Float32Array.from(weights) }
  }
  if (name === 'gbtree') return treesOf(member(booster, 'model'), groups, features, [])
  if (name === 'dart') {
    return treesOf(member(member(booster, 'gbtree'), 'model'), groups, features, numbersOf(booster, 'weight_drop'))
  }
  throw wrong(`its gradient booster ${JSON.stringify(name)} is not supported`)
}

function treesOf(model: unknown, groups: number, features: number, weights: readonly number[]): TreeModel {
  const trees = ownValue(model, 'trees')
  const info = numbersOf(model, 'tree_info')
  if (!Array.isArray(trees) || info.length !== trees.length)
    throw wrong('the numbers of its trees and of their classes differ')
  return {
    kind: 'trees',
    trees: trees.map((tree: unknown, at) => {
      const group = info[at] ?? 0
      if (!(group >= 0 && group < groups))
        throw wrong(`tree ${at} has the class ${group}, but the model has ${groups} classes`)
      return checkedTree(treeOf(tree, at, group, Math.fround(weights[at] ?? 1)), at, features)
    }),
  }
}

function treeOf(tree: unknown, at: number, group: number, weight: number): Tree {
  const size = ownValue(ownValue(tree, 'tree_param'), 'size_leaf_vector')
  if (size !== undefined && Number(size) > 1) throw wrong(`tree ${at} has leaves with several values`)
  return {
    group,
    weight,
    left: Int32Array.from(numbersOf(tree, 'left_children')),
    right: Int32Array.from(numbersOf(tree, 'right_children')),
    feature: Int32Array.from(numbersOf(tree, 'split_indices')),
    value: Float32Array.from(numbersOf(tree, 'split_conditions')),
    defaultLeft: Uint8Array.from(numbersOf(tree, 'default_left'), Number),
    categories: categoriesOf(tree),
  }
}

function categoriesOf(tree: unknown): ReadonlyMap<number, ReadonlySet<number>> {
  if (ownValue(tree, 'categories_nodes') === undefined) return new Map()
  const [all, sizes, segments] = (['categories', 'categories_sizes', 'categories_segments'] as const).map((key) =>
    numbersOf(tree, key),
  )
  return new Map(
    numbersOf(tree, 'categories_nodes').map((node, at) => {
      const from = segments?.[at] ?? 0
      return [node, new Set(all?.slice(from, from + (sizes?.[at] ?? 0)))]
    }),
  )
}

/** Checks that the tree has no cycles, so that evaluating it terminates. */
export function checkedTree(tree: Tree, at: number, features: number): Tree {
  const { left, right, feature, value, defaultLeft } = tree
  const size = left.length
  if (size === 0 || [right, feature, value, defaultLeft].some(({ length }) => length !== size)) {
    throw wrong(`tree ${at} has lists of several lengths`)
  }
  const seen = new Uint8Array(size)
  const open = [0]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!(node >= 0 && node < size) || seen[node] === 1) throw wrong(`tree ${at} leads to the missing node ${node}`)
    seen[node] = 1
    const next = left[node] ?? -1
    if (next < 0) continue
    open.push(next, right[node] ?? -1)
    const index = feature[node] ?? 0
    if (index < 0 || index >= features)
      throw wrong(`node ${node} of tree ${at} reads the feature ${index}, which does not exist`)
  }
  return tree
}

function member(value: unknown, key: string): unknown {
  const found = ownValue(value, key)
  if (!isPlainObject(found)) throw wrong(`it has no ${key}`)
  return found
}

function wholeOf(parameters: unknown, key: string, most: number): number {
  const text = ownValue(parameters, key)
  const value = Number(text)
  if (text === undefined || !Number.isInteger(value) || value < 0 || value > most) {
    throw wrong(`its ${key} is ${JSON.stringify(text)}`)
  }
  return value
}

function numbersOf(value: unknown, key: string): readonly number[] {
  const list = ownValue(value, key)
  if (Array.isArray(list) && list.every((one) => typeof one === 'number' || typeof one === 'boolean')) {
    return list.map(Number)
  }
  throw wrong(`its ${key} is not a list of numbers`)
}

/** Reads the bytes of a booster sequentially. */
export class ByteReader {
  readonly view: DataView
  at = 0

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.view.byteLength - this.at
  }

  /** Skips bytes and returns their offset. Like all methods, throws `VALIDATION` beyond the end. */
  pass(size: number): number {
    if (size > this.left) throw wrong('it ends too early')
    const begin = this.at
    this.at += size
    return begin
  }

  struct(size: number): DataView {
    return new DataView(this.view.buffer, this.view.byteOffset + this.pass(size), size)
  }

  text(size: number): string {
    return new TextDecoder().decode(this.struct(size))
  }
}

export function wrong(why: string): AppError {
  return new AppError('VALIDATION', `the booster cannot be read: ${why}`)
}
