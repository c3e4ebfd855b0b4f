/**
 * Stores ordered numbers for percentiles in O(log n): a treap in parallel lists, plain JSON with a seed for its
 * priorities.
 */
import { nextSeed, randomOf } from '#plug'

export interface OrderTree {
  /** -1 when empty; children use the same value */
  root: number
  seed: number
  readonly keys: number[]
  readonly left: number[]
  readonly right: number[]
  readonly sizes: number[]
  readonly priorities: number[]
  readonly free: number[]
}

const NONE = -1

export function emptyTree(): OrderTree {
  return { root: NONE, seed: 1, keys: [], left: [], right: [], sizes: [], priorities: [], free: [] }
}

export function insert(tree: OrderTree, key: number): void {
  const node = tree.free.pop() ?? tree.keys.length
  tree.seed = nextSeed(tree.seed)
  tree.keys[node] = key
  tree.left[node] = NONE
  tree.right[node] = NONE
  tree.sizes[node] = 1
  tree.priorities[node] = randomOf(tree.seed)
  tree.root = insertAt(tree, tree.root, node)
}

export function remove(tree: OrderTree, key: number): void {
  tree.root = removeAt(tree, tree.root, key)
}

/** NaN when out of range */
export function pick(tree: OrderTree, rank: number): number {
  let node = tree.root
  let wanted = rank
  while (node !== NONE) {
    const before = size(tree, at(tree.left, node))
    if (wanted === before) return at(tree.keys, node)
    if (wanted < before) node = at(tree.left, node)
    else {
      wanted -= before + 1
      node = at(tree.right, node)
    }
  }
  return Number.NaN
}

export function percentileOf(tree: OrderTree, percent: number): number {
  const count = size(tree, tree.root)
  const rank = ((count - 1) * percent) / 100
  const below = Math.floor(rank)
  const low = pick(tree, below)
  return rank === below ? low : low + (pick(tree, below + 1) - low) * (rank - below)
}

function insertAt(tree: OrderTree, top: number, node: number): number {
  if (top === NONE) return node
  const goesLeft = at(tree.keys, node) < at(tree.keys, top)
  const side = goesLeft ? tree.left : tree.right
  side[top] = insertAt(tree, at(side, top), node)
  resize(tree, top)
  return at(tree.priorities, at(side, top)) > at(tree.priorities, top) ? rotate(tree, top, goesLeft) : top
}

function rotate(tree: OrderTree, top: number, left: boolean): number {
  const [side, other] = left ? [tree.left, tree.right] : [tree.right, tree.left]
  const child = at(side, top)
  side[top] = at(other, child)
  other[child] = top
  resize(tree, top)
  resize(tree, child)
  return child
}

function removeAt(tree: OrderTree, top: number, key: number): number {
  if (top === NONE) return NONE
  const topKey = at(tree.keys, top)
  if (key === topKey) {
    tree.free.push(top)
    return joined(tree, at(tree.left, top), at(tree.right, top))
  }
  const side = key < topKey ? tree.left : tree.right
  side[top] = removeAt(tree, at(side, top), key)
  resize(tree, top)
  return top
}

/** Concatenates two trees; all numbers of the first come before those of the second. */
function joined(tree: OrderTree, first: number, second: number): number {
  if (first === NONE) return second
  if (second === NONE) return first
  if (at(tree.priorities, first) > at(tree.priorities, second)) {
    tree.right[first] = joined(tree, at(tree.right, first), second)
    resize(tree, first)
    return first
  }
  tree.left[second] = joined(tree, first, at(tree.left, second))
  resize(tree, second)
  return second
}

function resize(tree: OrderTree, node: number): void {
  tree.sizes[node] = 1 + size(tree, at(tree.left, node)) + size(tree, at(tree.right, node))
}

function size(tree: OrderTree, node: number): number {
  return node === NONE ? 0 : at(tree.sizes, node)
}

function at(list: readonly number[], index: number): number {
  return list[index] ?? NONE
}
