/** Determines what a `var` of JSON Logic reads: the message, other nodes, or the item of a loop. */
import { AppError, FORBIDDEN_KEYS } from '#kernel'
import { dottedName } from '../placeholders/dotted-name.ts'
import { isRoot, MAX_SEGMENTS, parsePath, printPath, scanSegments, toPath, type Fault } from '../placeholders/path.ts'
import type { Path } from '../placeholders/scope.ts'
import type { LogicPath } from './run.ts'

/** Returns the path of a `var` outside loops; a path without a root reads the message. */
export function topPath(name: string): { readonly path: LogicPath } | { readonly fault: Fault } {
  const quoted = name.includes('[')
  const scanned = quoted ? scanSegments(name, 0) : undefined
  if (scanned && (scanned.fault || scanned.end < name.length)) {
    const parsed = parsePath(name)
    return { fault: 'fault' in parsed ? parsed.fault : badName(name) }
  }
  const segments = scanned ? scanned.segments : name.split('.')
  const fault = checkNames(name, segments)
  if (fault) return { fault }
  const [first = '', second, ...keys] = segments
  const isMeta = first === 'META' && second === '$'
  const rooted = isMeta ? ['node', 'resource', 'meta', ...keys] : isRoot(first) ? segments : ['streamdata', ...segments]
  const parsed = toPath(rooted)
  return 'fault' in parsed ? parsed : { path: withParts(parsed.path) }
}

/** Returns the path of a `var` inside a loop, starting at the item; empty for the item itself. */
export function itemPath(name: string): { readonly segments: readonly string[] } | { readonly fault: Fault } {
  const segments = name === '' ? [] : name.split('.')
  const fault = checkNames(name, segments)
  return fault ? { fault } : { segments }
}

/** Adds `parts` to a path. `optional`: the placeholder may be missing. */
export function withParts({ root, segments }: Path, optional = false): LogicPath {
  return { root, segments, parts: [root, ...segments], ...(optional && { onlyCurrent: true }) }
}

export function pathKey(path: LogicPath): string {
  return path.onlyCurrent === true ? `?${printPath(path)}` : printPath(path)
}

/** Creates the error for a missing value, since unknown is neither 0 nor false. */
export function missing(name: string): AppError {
  return new AppError(
    'BINDING',
    `"${name}" has no value, so the result is unknown; set a default as {"var": ["${name}", 0]}, or test {"missing": ["${name}"]} first`,
  )
}

function checkNames(name: string, segments: readonly string[]): Fault | undefined {
  const dotted = dottedName(name)
  if (dotted !== undefined && segments.length > 1 && !name.includes('[')) {
    return { message: `"${name}" has dots in a name`, suggestion: `write {"var": "streamdata[\\"${dotted}\\"]"}` }
  }
  if (segments.includes('')) return badName(name)
  if (segments.length > MAX_SEGMENTS)
    return { message: `has more than ${MAX_SEGMENTS} steps`, suggestion: 'use a shorter path' }
  // data never contains these fields, so the read would reach the prototype
  const reserved = segments.find((segment) => FORBIDDEN_KEYS.has(segment) || segment in Object.prototype)
  if (reserved === undefined) return undefined
  return { message: `"${name}" reads "${reserved}", which is not data`, suggestion: 'name a field of the data' }
}

function badName(name: string): Fault {
  return {
    message: `"${name}" is not a path`,
    suggestion: 'write names with dots, such as "temperature" or "nodes.a.rawData.x"',
  }
}
