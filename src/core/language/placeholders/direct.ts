/** Recognizes properties whose only variable values are plain reads of the message or of another node's raw data. */
import type { Path } from './scope.ts'

export type DirectRead =
  | { readonly property: string; readonly from: 'message'; readonly key: string }
  | { readonly property: string; readonly from: 'node'; readonly node: string; readonly key: string }

export interface DirectProperties {
  readonly fixed: Readonly<Record<string, unknown>>
  readonly reads: readonly DirectRead[]
}

/** `${streamdata.<key>}` or `${nodes.<label>.rawData.<key>}`; undefined for any other path */
export function directRead(property: string, { root, segments }: Path): DirectRead | undefined {
  const [first, second, third] = segments
  if (root === 'streamdata' && segments.length === 1 && first !== undefined) {
    return { property, from: 'message', key: first }
  }
  if (root === 'nodes' && segments.length === 3 && first !== undefined && second === 'rawData' && third !== undefined) {
    return { property, from: 'node', node: first, key: third }
  }
  return undefined
}
