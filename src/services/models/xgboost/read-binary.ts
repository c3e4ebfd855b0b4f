/** Parses the binary format of XGBoost before 3.1; training attributes after the model are ignored. */
import type { Booster, Tree, TreeModel, LinearModel } from './booster.ts'
import { ByteReader, checkedTree, MAX_FEATURES, MAX_GROUPS, requireObjective, wrong } from './read-document.ts'

const LEARNER_BYTES = 136
const TREES_BYTES = 160
const TREE_BYTES = 148
const NODE_BYTES = 20
const STATISTICS_BYTES = 16
const LINEAR_BYTES = 136
const MAX_NAME = 100
/** mask of the feature number; the remaining bit is the default direction */
const FEATURE_BITS = 0x7fffffff

export function readBinary(bytes: Uint8Array): Booster {
  const reader = new Reader(bytes)
  // older versions do not write this mark
  if (reader.text(4) !== 'binf') reader.at = 0
  const learner = reader.struct(LEARNER_BYTES)
  const base = learner.getFloat32(0, true)
  const features = bounded(learner.getUint32(4, true), MAX_FEATURES, 'features')
  const classes = bounded(learner.getInt32(8, true), MAX_GROUPS, 'classes')
  const [major, minor] = [learner.getUint32(20, true), learner.getUint32(24, true)]
  const objective = requireObjective(reader.name())
  const kind = reader.name()
  const groups = Math.max(classes, 1)
  const model = kind === 'gblinear' ? linearOf(reader, features, groups) : treesOf(reader, kind, features, groups)
  // before 1.0 the base score was stored already transformed
  const margin = major >= 1 ? objective.marginOf(base) : base
  return {
    features,
    featureNames: [],
    groups,
    objective,
    margins: new Float32Array(groups).fill(margin),
    model,
    ...(major >= 1 && { version: `${major}.${minor}` }),
  }
}

function linearOf(reader: Reader, features: number, groups: number): LinearModel {
  reader.pass(LINEAR_BYTES)
  const count = reader.long()
  if (count !== (features + 1) * groups) throw wrong(`it has ${count} weights`)
  return { kind: 'linear', weights: reader.floats(count) }
}

function treesOf(reader: Reader, kind: string, features: number, groups: number): TreeModel {
  if (kind !== 'gbtree' && kind !== 'dart') throw wrong(`its gradient booster ${JSON.stringify(kind)} is not supported`)
  const parameters = reader.struct(TREES_BYTES)
  const count = bounded(parameters.getInt32(0, true), reader.left / TREE_BYTES, 'trees')
  const shapes = Array.from({ length: count }, () => treeOf(reader))
  const info = Array.from({ length: count }, () => reader.struct(4).getInt32(0, true))
  const weights = kind === 'dart' && count > 0 ? reader.floats(reader.long()) : undefined
  const trees = shapes.map((shape, at) => {
    const group = info[at] ?? 0
    if (group < 0 || group >= groups)
      throw wrong(`tree ${at} has the class ${group}, but the model has ${groups} classes`)
    return checkedTree({ ...shape, group, weight: weights?.[at] ?? 1 }, at, features)
  })
  return { kind: 'trees', trees }
}

function treeOf(reader: Reader): Omit<Tree, 'group' | 'weight'> {
  const parameters = reader.struct(TREE_BYTES)
  const count = bounded(parameters.getInt32(4, true), reader.left / (NODE_BYTES + STATISTICS_BYTES), 'nodes')
  if (parameters.getInt32(20, true) > 1) throw wrong('a tree has leaves with several values')
  const left = new Int32Array(count)
  const right = new Int32Array(count)
  const feature = new Int32Array(count)
  const value = new Float32Array(count)
  const defaultLeft = new Uint8Array(count)
  for (let node = 0; node < count; node++) {
    const data = reader.struct(NODE_BYTES)
    left[node] = data.getInt32(4, true)
    right[node] = data.getInt32(8, true)
    const index = data.getUint32(12, true)
    feature[node] = index & FEATURE_BITS
    defaultLeft[node] = index >>> 31
    value[node] = data.getFloat32(16, true)
  }
  reader.pass(count * STATISTICS_BYTES)
  return { left, right, feature, value, defaultLeft, categories: new Map() }
}

function bounded(value: number, most: number, what: string): number {
  if (value < 0 || value > most) throw wrong(`it declares ${value} ${what}, which is not possible`)
  return value
}

class Reader extends ByteReader {
  long(): number {
    return Number(this.view.getBigUint64(this.pass(8), true))
  }

  name(): string {
    return this.text(bounded(this.long(), MAX_NAME, 'characters in a name'))
  }

  floats(count: number): Float32Array {
    const view = this.struct(bounded(count, this.left / 4, 'numbers') * 4)
    return Float32Array.from({ length: count }, (_, at) => view.getFloat32(at * 4, true))
  }
}
