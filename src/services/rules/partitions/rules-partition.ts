/** The rules of one partition of a tenant: what they ask of the other ones, and what they answer. */
import { AppError, type Caller } from '#kernel'
import { type Partition, partitionOf, partitionOfTask } from '#cluster'
import type { TaskAction } from '../batches/batch-schema.ts'
import type { RulesQuestion } from './rules-question.ts'
import type { InspectionApi, RulesApi } from '../contract.ts'
import type { ShowOptions, TaskEntity, TaskPreview } from '../tasks/task-schema.ts'
import type { DataPush } from '../tools/tools-schema.ts'

/** One of several partitions of each tenant that the service has. */
export interface RulesPartition extends Partition {
  /** Asks the rules of another partition: what `answer` of its service gives. Rejects as that does; `FENCED` when no host has it. */
  ask(partition: number, question: RulesQuestion): Promise<unknown>
}

/** Methods whose first argument is the id of a task; those that make tasks of templates pass the gates of these first. */
const BY_TASK = {
  tasks: ['remove', 'start', 'stop', 'restart', 'resync', 'get', 'conf', 'runs'],
  batches: ['previewReload', 'reload'],
  inspection: ['node', 'states', 'push', 'command', 'explain', 'deliveries'],
} as const satisfies { readonly [A in 'tasks' | 'batches' | 'inspection']: readonly (keyof RulesApi[A])[] }

/** The same for tasks of all partitions: each is asked of the partition that has it. */
export function acrossPartitions(own: RulesApi, caller: Caller, partition: RulesPartition): RulesApi {
  const foreign = (id: string): number | undefined => foreignOf(id, partition)
  const ask = (
    at: number,
    api: 'tasks' | 'batches' | 'inspection' | 'tools',
    method: string,
    args: readonly unknown[],
  ) => partition.ask(at, { ask: 'api', caller, api, method, args })
  const byTask = <A extends keyof typeof BY_TASK>(api: A): RulesApi[A] => {
    const local = own[api]
    const methods = BY_TASK[api].map((name) => {
      const method = Reflect.get(local, name) as (...given: readonly unknown[]) => Promise<unknown>
      return [
        name,
        async (...given: readonly unknown[]) => {
          const at = foreign(String(given[0]))
          return at === undefined ? method(...given) : ask(at, api, name, given)
        },
      ] as const
    })
    return { ...local, ...Object.fromEntries(methods) }
  }
  return {
    get tasks() {
      return byTask('tasks')
    },
    get templates() {
      return own.templates
    },
    get batches() {
      return byTask('batches')
    },
    get inspection(): InspectionApi {
      const local = byTask('inspection')
      return {
        ...local,
        log: async (query) => {
          const at = foreign(query.taskId)
          return at === undefined ? local.log(query) : ((await ask(at, 'inspection', 'log', [query])) as never)
        },
        events: (id, options) => {
          const at = foreign(id)
          if (at === undefined) return local.events(id, options)
          throw new AppError('ELSEWHERE', `task ${id} is in partition ${at}: ask for its own path`)
        },
      }
    },
    get rehearsals() {
      return own.rehearsals
    },
    get tools() {
      const local = own.tools
      return {
        ...local,
        push: async (data: DataPush) => {
          const { resource } = data as { readonly resource?: unknown }
          const at = typeof resource === 'string' ? partitionOf(resource, partition.count) : partition.number
          return at === partition.number ? local.push(data) : ((await ask(at, 'tools', 'push', [data])) as never)
        },
      }
    },
  }
}

/** Undefined: it is here. */
export function foreignOf(id: string, partition: Partition | undefined): number | undefined {
  const at = partition && partitionOfTask(id, partition.count)
  return at === partition?.number ? undefined : at
}

/** Those of one list that other partitions have, as these show them, by id. */
export async function shownElsewhere(
  ids: readonly string[],
  { options, withoutGraph }: { readonly options: ShowOptions; readonly withoutGraph: boolean },
  partition: RulesPartition,
): Promise<ReadonlyMap<string, TaskEntity>> {
  const byPartition = new Map<number, string[]>()
  for (const id of ids) {
    const at = foreignOf(id, partition)
    if (at !== undefined) byPartition.set(at, [...(byPartition.get(at) ?? []), id])
  }
  const asked = [...byPartition].map(async ([at, some]) => {
    const question = { ask: 'shown', ids: some, options, withoutGraph } as const
    return (await partition.ask(at, question)) as readonly TaskEntity[]
  })
  const shown = (await Promise.all(asked)).flat()
  return new Map(shown.map((task) => [task.ID, task]))
}

/** Undefined: it is here. */
export function previewElsewhere(
  id: string,
  action: TaskAction,
  partition: RulesPartition | undefined,
): Promise<TaskPreview> | undefined {
  const at = foreignOf(id, partition)
  return partition === undefined || at === undefined
    ? undefined
    : (partition.ask(at, { ask: 'preview', id, action }) as Promise<TaskPreview>)
}
