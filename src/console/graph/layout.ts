/** Places the nodes of a graph: in layers from left to right, or in one column where there is little room. */
import { graphlib, layout } from '@dagrejs/dagre'

export interface Placed {
  readonly width: number
  readonly height: number
  /** top left corner of each node by label */
  readonly at: ReadonlyMap<string, { readonly x: number; readonly y: number }>
}

export const NODE_WIDTH = 184
const MARGIN = 10
/** Above it the quicker ranking is used, which may leave some edges longer. */
const MANY = 60

interface Sized {
  readonly label: string
  readonly height: number
}

export function layered(
  nodes: readonly Sized[],
  edges: readonly { readonly from: string; readonly to: string }[],
): Placed {
  if (nodes.length === 0) return { width: 0, height: 0, at: new Map() }
  const graph = new graphlib.Graph({ multigraph: false })
  const ranker = nodes.length > MANY ? 'tight-tree' : 'network-simplex'
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 54, marginx: MARGIN, marginy: MARGIN, ranker })
  graph.setDefaultEdgeLabel(() => ({}))
  const known = new Set(nodes.map(({ label }) => label))
  for (const { label, height } of nodes) graph.setNode(label, { width: NODE_WIDTH, height })
  for (const { from, to } of edges) if (known.has(from) && known.has(to)) graph.setEdge(from, to)
  layout(graph)
  const at = new Map(
    nodes.map(({ label, height }) => {
      const { x = 0, y = 0 } = graph.node(label) as { readonly x?: number; readonly y?: number }
      return [label, { x: x - NODE_WIDTH / 2, y: y - height / 2 }] as const
    }),
  )
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number }
  return { width, height, at: inOrder(nodes, at, height) }
}

/** Mirrors the picture if the nodes of the first layer would stand in the reverse of their order in the rule. */
function inOrder(nodes: readonly Sized[], at: Placed['at'], height: number): Placed['at'] {
  const left = Math.min(...[...at.values()].map(({ x }) => x))
  const first = nodes.filter(({ label }) => at.get(label)?.x === left)
  const [top, bottom] = [at.get(first[0]?.label ?? ''), at.get(first.at(-1)?.label ?? '')]
  if (top === undefined || bottom === undefined || top.y <= bottom.y) return at
  return new Map(
    nodes.map(({ label, height: own }) => [
      label,
      { x: at.get(label)?.x ?? 0, y: height - (at.get(label)?.y ?? 0) - own },
    ]),
  )
}

/** Room for the arcs of edges beside a column of nodes */
export const GUTTER = 44

export function stacked(nodes: readonly Sized[]): Placed {
  const at = new Map<string, { readonly x: number; readonly y: number }>()
  let y = MARGIN
  for (const { label, height } of nodes) {
    at.set(label, { x: GUTTER, y })
    y += height + 12
  }
  return { width: GUTTER + NODE_WIDTH + 78 + MARGIN, height: y, at }
}
