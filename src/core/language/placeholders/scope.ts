/** Defines what placeholders can read when a node runs; all reads are synchronous. */
export interface Scope {
  /** with `state` (only when known for certain) and `collectedTime`; undefined before its first result */
  nodeData(label: string): Readonly<Record<string, unknown>> | undefined
  streamValue(key: string): unknown
  /** whether the message that began the run contains that value, instead of an earlier message */
  isNew(key: string): boolean
  readonly taskId: string
  readonly taskResource: string | undefined
  readonly nodeName: string
  /** the node's own resource; `${node.RESOURCE}` falls back to the task's */
  readonly nodeResource: string | undefined
  taskMetadata(): unknown
  nodeMetadata(): unknown
  variable(name: string): unknown
  secret(key: string): unknown
  loopItem(): unknown
}

export interface Needs {
  readonly taskMetadata: boolean
  readonly nodeMetadata: boolean
  readonly secrets: readonly string[]
  readonly variables: readonly string[]
}

/** Roots of binding paths: `nodes.a.rawData.x` is root `nodes` with segments `['a','rawData','x']`. */
export const ROOTS = ['nodes', 'streamdata', 'task', 'node', 'variables', 'vault', 'loop'] as const
export type Root = (typeof ROOTS)[number]

export interface Path {
  readonly root: Root
  readonly segments: readonly string[]
}
