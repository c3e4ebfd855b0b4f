import type { Scope } from '../../../../src/core/language/placeholders/scope.ts'

/** A scope over plain data; omitted parts are empty. */
export function fakeScope(
  data: {
    nodes?: Record<string, Record<string, unknown>>
    stream?: Record<string, unknown>
    variables?: Record<string, unknown>
    secrets?: Record<string, string>
    metadata?: unknown
    nodeMetadata?: unknown
    loop?: unknown
    taskResource?: string
    nodeResource?: string
  } = {},
): Scope {
  const own = (record: Record<string, unknown> | undefined, key: string) =>
    record && Object.hasOwn(record, key) ? record[key] : undefined
  return {
    nodeData: (label) => own(data.nodes, label) as Record<string, unknown> | undefined,
    streamValue: (key) => own(data.stream, key),
    isNew: (key) => own(data.stream, key) !== undefined,
    taskId: 'task-1',
    taskResource: data.taskResource,
    nodeName: 'node-1',
    nodeResource: data.nodeResource,
    taskMetadata: () => data.metadata,
    nodeMetadata: () => data.nodeMetadata ?? data.metadata,
    variable: (name) => own(data.variables, name),
    secret: (key) => own(data.secrets, key),
    loopItem: () => data.loop,
  }
}
