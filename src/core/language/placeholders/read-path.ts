/** Reads the value at a path, using own properties only. */
import { FORBIDDEN_KEYS, isPlainObject, nearest, ofData, ownValue } from '#kernel'
import { printPath } from './path.ts'
import type { Path, Scope } from './scope.ts'

/** Only own properties; texts have no fields, arrays have indexes and `length`. */
export function readPath(path: Path, scope: Scope): unknown {
  return read(path.root, path.segments, 0, scope)
}

/** Reads a path given as one list that starts with the root: `['nodes', 'a', 'state']`. Allocates nothing. */
export function readParts(parts: readonly string[], scope: Scope): unknown {
  for (const part of parts) if (FORBIDDEN_KEYS.has(part)) return undefined
  return read(parts[0], parts, 1, scope)
}

export function descend(value: unknown, parts: readonly string[], from: number): unknown {
  let current = value
  for (let i = from; i < parts.length; i++) {
    if (current === undefined) return undefined
    current = ownValue(current, parts[i] ?? '')
  }
  return current
}

/** Explains why a path has no value: what exists instead, and what was probably meant. */
export function explainMissing(path: Path, scope: Scope): { readonly message: string; readonly suggestion: string } {
  const { root, segments } = path
  const optional = `write \${?${printPath(path)}} if it may be missing`
  const name = segments[0] ?? ''
  if (root === 'nodes') {
    const data = scope.nodeData(name)
    if (data === undefined) return { message: `node "${name}" has no result yet`, suggestion: optional }
    if (segments[1] !== 'rawData')
      return { message: `the ${segments[1]} of node "${name}" is unknown`, suggestion: optional }
    return explainStep(data, segments, 2, `node "${name}"`, optional)
  }
  if (root === 'streamdata') {
    const message = scope.streamValue(name)
    if (message === undefined) return { message: `no current message has the value "${name}"`, suggestion: optional }
    return explainStep(message, segments, 1, `streamdata.${name}`, optional)
  }
  if (root === 'variables') {
    const value = scope.variable(name)
    if (value === undefined)
      return {
        message: `variable "${name}" has no value`,
        suggestion: `set it in the task's variables, or ${optional}`,
      }
    return explainStep(value, segments, 1, `variable "${name}"`, optional)
  }
  if (root === 'vault') return { message: `secret "${name}" does not exist`, suggestion: `store it, or ${optional}` }
  if (root === 'loop') {
    if (scope.loopItem() === undefined)
      return { message: 'the node has no loop item', suggestion: 'add a loopDef to the node' }
    return explainStep(scope.loopItem(), segments, 0, 'the loop item', optional)
  }
  if (root === 'node' && name === 'RESOURCE')
    return { message: 'neither the node nor the task has a resource', suggestion: optional }
  if (segments[0] !== 'resource') return { message: `the ${root} has no ${name.toLowerCase()}`, suggestion: optional }
  const metadata = root === 'task' ? scope.taskMetadata() : scope.nodeMetadata()
  if (metadata === undefined) return { message: `the ${root}'s resource has no metadata`, suggestion: optional }
  return explainStep(metadata, segments, 2, 'the metadata', optional)
}

function read(root: string | undefined, parts: readonly string[], from: number, scope: Scope): unknown {
  const name = parts[from]
  switch (root) {
    case 'streamdata':
      return name === undefined ? undefined : ofData(descend(scope.streamValue(name), parts, from + 1))
    case 'nodes':
      return name === undefined ? undefined : readNode(scope.nodeData(name), parts, from + 1)
    case 'variables':
      return name === undefined ? undefined : descend(scope.variable(name), parts, from + 1)
    case 'loop':
      return descend(scope.loopItem(), parts, from)
    case 'vault':
      return name === undefined || parts.length > from + 1 ? undefined : scope.secret(name)
    case 'task':
    case 'node':
      return readNamed(root, parts, from, scope)
    default:
      return undefined
  }
}

function readNode(data: unknown, parts: readonly string[], from: number): unknown {
  const part = parts[from]
  if (part === 'rawData') return descend(data, parts, from + 1)
  if ((part === 'state' || part === 'collectedTime') && parts.length === from + 1) return ownValue(data, part)
  return undefined
}

function readNamed(root: 'task' | 'node', parts: readonly string[], from: number, scope: Scope): unknown {
  if (parts[from] === 'resource' && parts[from + 1] === 'meta') {
    return descend(root === 'task' ? scope.taskMetadata() : scope.nodeMetadata(), parts, from + 2)
  }
  if (parts.length !== from + 1) return undefined
  switch (`${root}.${parts[from]}`) {
    case 'task.TASK_ID':
      return scope.taskId
    case 'task.RESOURCE':
      return scope.taskResource
    case 'task.NODE_NAME':
    case 'node.NAME':
      return scope.nodeName
    case 'node.RESOURCE':
      return scope.nodeResource ?? scope.taskResource
    default:
      return undefined
  }
}

function explainStep(
  start: unknown,
  segments: readonly string[],
  from: number,
  location: string,
  optional: string,
): { message: string; suggestion: string } {
  let current = start
  let at = from
  while (at < segments.length && descend(current, segments.slice(0, at + 1), at) !== undefined) {
    current = ownValue(current, segments[at] ?? '')
    at++
  }
  const where = [location, ...segments.slice(from, at)].join('.')
  const wanted = segments[at] ?? ''
  if (Array.isArray(current)) {
    return { message: `${where} is a list of ${current.length} and has no "${wanted}"`, suggestion: optional }
  }
  if (!isPlainObject(current)) {
    const kind = current === null ? 'null' : typeof current
    return { message: `${where} is a ${kind} and has no "${wanted}"`, suggestion: optional }
  }
  // undefined fields disappear when a state is saved and restored
  const keys = Object.keys(current).filter((key) => current[key] !== undefined)
  const close = nearest(wanted, keys)
  const list = keys.length === 0 ? 'nothing' : keys.slice(0, 8).join(', ') + (keys.length > 8 ? ', ...' : '')
  return {
    message: `${where} has no "${wanted}"; it has ${list}`,
    suggestion: close === undefined ? optional : `did you mean "${close}"? Otherwise ${optional}`,
  }
}
