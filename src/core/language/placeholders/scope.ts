/**
 * What a placeholder can see at the moment a node runs. Everything is answered without waiting:
 * the engine fetches metadata and secrets that a graph declares in `Needs` before it asks.
 */
export interface Scope {
  /** raw data of a node with `state` (only when certain) and `collectedTime`; undefined before its first result */
  nodeData(label: string): Readonly<Record<string, unknown>> | undefined
  /** value of the message in reach */
  streamValue(key: string): unknown
  /** whether the message that began the run has that value itself, so that it is not carried over from an earlier one */
  isNew(key: string): boolean
  readonly taskId: string
  readonly taskResource: string | undefined
  readonly nodeName: string
  /** the node's own; `${node.RESOURCE}` reads the task's when there is none */
  readonly nodeResource: string | undefined
  /** metadata of the task's resource; undefined when there is none */
  taskMetadata(): unknown
  /** metadata of the node's resource, else of the task's */
  nodeMetadata(): unknown
  variable(name: string): unknown
  secret(key: string): unknown
  /** current item of `loopDef` */
  loopItem(): unknown
}

/** What must be fetched before a set of properties can be resolved. */
export interface Needs {
  readonly taskMetadata: boolean
  readonly nodeMetadata: boolean
  readonly secrets: readonly string[]
  /** names under `variables.` that are read */
  readonly variables: readonly string[]
}

/** Where a binding points: `nodes.a.rawData.x` is root `nodes` with segments `['a','rawData','x']`. */
export const ROOTS = ['nodes', 'streamdata', 'task', 'node', 'variables', 'vault', 'loop'] as const
export type Root = (typeof ROOTS)[number]

export interface Path {
  readonly root: Root
  readonly segments: readonly string[]
}
