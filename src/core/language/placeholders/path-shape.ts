/** The allowed segments behind each root of a placeholder. */
import { nearest } from '#kernel'
import type { Root } from './scope.ts'

const NODE_PARTS = ['rawData', 'state', 'collectedTime']
const NAMES: Readonly<Record<'task' | 'node', readonly string[]>> = {
  task: ['TASK_ID', 'RESOURCE', 'NODE_NAME', 'resource.meta'],
  node: ['NAME', 'RESOURCE', 'resource.meta'],
}

export function checkShape(
  root: Root,
  segments: readonly string[],
): { readonly message: string; readonly suggestion: string } | undefined {
  switch (root) {
    case 'nodes':
      return checkNodes(segments)
    case 'task':
    case 'node':
      return checkNamed(root, segments)
    case 'vault':
      if (segments.length === 1) return undefined
      return { message: 'does not name one secret', suggestion: 'write vault.<KEY>' }
    case 'streamdata':
    case 'variables':
      if (segments.length > 0) return undefined
      return { message: `"${root}" needs a name`, suggestion: `write ${root}.<name>` }
    case 'loop':
      return undefined
  }
}

function checkNodes(segments: readonly string[]): { message: string; suggestion: string } | undefined {
  const [label, part] = segments
  const forms = NODE_PARTS.map((name) => `nodes.${label ?? '<label>'}.${name}`).join(', ')
  if (label === undefined || part === undefined) {
    return { message: 'does not say what of the node to read', suggestion: `write one of ${forms}` }
  }
  if (!NODE_PARTS.includes(part)) {
    const place = segments.findIndex((segment) => NODE_PARTS.includes(segment))
    if (place > 1) {
      const [dotted, rest] = [segments.slice(0, place).join('.'), segments.slice(place).join('.')]
      const hint = `put a label with a dot in it in quotes: nodes["${dotted}"].${rest}`
      return { message: `a node has no "${part}"`, suggestion: hint }
    }
    const close = nearest(part, NODE_PARTS)
    const hint = close === undefined ? `write one of ${forms}` : `did you mean nodes.${label}.${close}?`
    return { message: `a node has no "${part}"`, suggestion: hint }
  }
  if (part !== 'rawData' && segments.length > 2) {
    return { message: `"${part}" of a node has no fields`, suggestion: `write nodes.${label}.${part}` }
  }
  return undefined
}

function checkNamed(
  root: 'task' | 'node',
  segments: readonly string[],
): { message: string; suggestion: string } | undefined {
  const names = NAMES[root]
  const [first, second] = segments
  if (first === 'resource' && second === 'meta') {
    if (segments.length > 2) return undefined
    return { message: 'does not name a metadata key', suggestion: `write ${root}.resource.meta.<key>` }
  }
  if (segments.length === 1 && first !== undefined && names.includes(first)) return undefined
  const close = nearest(segments.join('.'), names)
  const list = names.map((name) => `${root}.${name}`).join(', ')
  return {
    message: `"${root}" has no "${segments.join('.')}"`,
    suggestion: close === undefined ? `it has ${list}` : `did you mean ${root}.${close}? it has ${list}`,
  }
}
