/** Parses paths such as `nodes.a.rawData["b c"][0]` into segments, or rejects them with a reason. */
import { FORBIDDEN_KEYS, nearest } from '#kernel'
import { ROOTS, type Path, type Root } from './scope.ts'

export interface Fault {
  readonly message: string
  readonly suggestion: string
}

export interface ScannedSegments {
  readonly segments: readonly string[]
  readonly end: number
  readonly fault?: Fault
}

export const MAX_SEGMENTS = 32

const BARE_STOP = /[\s.[\]{}"'\\]/
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,8})$/

/** Reads `a.b[0]["c d"]` to the first character that cannot continue it. Never throws; one pass over the text. */
export function scanSegments(text: string, start: number): ScannedSegments {
  const segments: string[] = []
  let at = start
  let afterDot = false
  for (;;) {
    const step = !afterDot && text[at] === '[' ? scanBracket(text, at) : scanBare(text, at)
    if ('fault' in step) return { segments, end: step.end, fault: step.fault }
    if (FORBIDDEN_KEYS.has(step.segment)) {
      return { segments, end: step.end, fault: forbidden(step.segment) }
    }
    segments.push(step.segment)
    if (segments.length > MAX_SEGMENTS) {
      return {
        segments,
        end: step.end,
        fault: { message: `has more than ${MAX_SEGMENTS} steps`, suggestion: 'use a shorter path' },
      }
    }
    at = step.end
    afterDot = text[at] === '.'
    if (afterDot) at++
    else if (text[at] !== '[') return { segments, end: at }
  }
}

export function parsePath(text: string): { readonly path: Path } | { readonly fault: Fault } {
  if (text === '') return { fault: EMPTY }
  const scanned = scanSegments(text, 0)
  if (scanned.fault) return { fault: scanned.fault }
  if (scanned.end < text.length) return { fault: unexpected(text.charAt(scanned.end)) }
  return toPath(scanned.segments)
}

/** Splits segments into root and rest; the fault for an unknown root lists the roots. */
export function toPath(all: readonly string[]): { readonly path: Path } | { readonly fault: Fault } {
  const [root, ...segments] = all
  if (root === undefined) return { fault: EMPTY }
  if (!isRoot(root)) {
    return {
      fault: { message: `"${root}" is not a place to read from`, suggestion: `begin with one of ${ROOTS.join(', ')}` },
    }
  }
  const fault = checkShape(root, segments)
  return fault ? { fault } : { path: { root, segments } }
}

export function isRoot(text: string): text is Root {
  return ROOTS.some((root) => root === text)
}

export function printPath(path: Path): string {
  return path.segments.reduce((text, segment) => text + printStep(segment), path.root as string)
}

export const EMPTY: Fault = { message: 'is empty', suggestion: 'write a path such as streamdata.temperature' }

export function unexpected(character: string): Fault {
  return {
    message: `has an unexpected ${JSON.stringify(character)}`,
    suggestion:
      'a path is names with dots, such as nodes.a.rawData.items[0]; put other names in quotes: nodes["my node"].state',
  }
}

export function forbidden(name: string): Fault {
  return { message: `uses the reserved name "${name}"`, suggestion: 'use a field of the data itself' }
}

function printStep(segment: string): string {
  const bare = segment !== '' && !BARE_STOP.test(segment)
  return bare ? `.${segment}` : `["${segment.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"]`
}

type Step = { segment: string; end: number } | { fault: Fault; end: number }

function scanBare(text: string, start: number): Step {
  let end = start
  while (end < text.length && !BARE_STOP.test(text.charAt(end))) end++
  if (end > start) return { segment: text.slice(start, end), end }
  const nothing = end >= text.length || text[end] === '}' || text[end] === '.'
  return { fault: nothing ? EMPTY_STEP : unexpected(text.charAt(end)), end }
}

function scanBracket(text: string, start: number): Step {
  const quote = text[start + 1]
  if (quote === '"' || quote === "'") return scanQuoted(text, start + 2, quote)
  let end = start + 1
  while (end < text.length && text[end] !== ']' && !BARE_STOP.test(text.charAt(end))) end++
  const index = text.slice(start + 1, end)
  if (text[end] !== ']' || !WHOLE_NUMBER.test(index)) return { fault: badIndex(text.slice(start, end + 1)), end }
  return { segment: index, end: end + 1 }
}

function scanQuoted(text: string, start: number, quote: string): Step {
  let segment = ''
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === quote) {
      if (text[at + 1] === ']') return { segment, end: at + 2 }
      return { fault: badIndex(`[${quote}${segment}${quote}`), end: at + 1 }
    }
    if (character === '\\') at++
    segment += text.charAt(at)
  }
  return {
    fault: { message: `has a quote ${quote} that is never closed`, suggestion: `close it with ${quote}]` },
    end: text.length,
  }
}

const EMPTY_STEP: Fault = { message: 'has an empty step', suggestion: 'write a name between the dots' }

function badIndex(text: string): Fault {
  return {
    message: `has a bad index ${text.slice(0, 40)}`,
    suggestion: 'write a whole number from 0, such as [0], or a quoted name, such as ["my key"]',
  }
}

const NODE_PARTS = ['rawData', 'state', 'collectedTime']
const NAMES: Readonly<Record<'task' | 'node', readonly string[]>> = {
  task: ['TASK_ID', 'RESOURCE', 'NODE_NAME', 'resource.meta'],
  node: ['NAME', 'RESOURCE', 'resource.meta'],
}

function checkShape(
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
    return { message: 'does not name what to read from the node', suggestion: `write one of ${forms}` }
  }
  if (!NODE_PARTS.includes(part)) {
    const partIndex = segments.findIndex((segment) => NODE_PARTS.includes(segment))
    if (partIndex > 1) {
      const [dotted, rest] = [segments.slice(0, partIndex).join('.'), segments.slice(partIndex).join('.')]
      const hint = `quote a label that contains a dot: nodes["${dotted}"].${rest}`
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
