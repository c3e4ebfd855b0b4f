/** Publishes tasks to the topic of rules: what differs from the topic, and nothing else. */
import type { TaskSettings } from '#core'
import { AppError } from '#kernel'
import type { RunnableTask } from '#services/rules/deterministic'
import type { RulesValues } from './contract.ts'
import type { NewRecord } from './log.ts'
import { hashOf, type PublishedRules } from './rule-book.ts'

export interface PublishedTask {
  readonly id: string
  readonly source: RunnableTask['source']
  readonly settings: TaskSettings
  /** number of the run; default: that of the topic, so that a changed task keeps its state */
  readonly epoch?: number
}

/**
 * Returns the records that make the topic equal to the tasks of one publisher. Tasks that it no longer has are removed.
 * `CONFLICT` when another publisher has a task with the same id.
 */
export function rulesToPublish(
  tasks: readonly PublishedTask[],
  { from, now, book }: { readonly from: string; readonly now: number; readonly book: PublishedRules },
): readonly NewRecord[] {
  const records: NewRecord[] = []
  const sources = new Set<string>()
  const wanted = new Set<string>()
  const taken: string[] = []
  for (const { id, source, settings, epoch } of tasks) {
    wanted.add(id)
    const known = book.tasks.get(id)
    if (known !== undefined && known.from !== from) {
      taken.push(`task ${id} is published by ${known.from}`)
      continue
    }
    const hash = hashOf(source)
    const version = hashOf([hash, settings])
    const run = epoch ?? known?.version.epoch ?? 1
    if (known?.version.version === version && known.version.epoch === run) continue
    if (book.source(hash) === undefined && !sources.has(hash)) {
      sources.add(hash)
      records.push({ topic: 'rules', key: `source/${hash}`, value: JSON.stringify(source) })
    }
    const createTime = known?.version.createTime ?? now
    const value: RulesValues['task'] = { epoch: run, version, source: hash, settings, createTime, from }
    records.push({ topic: 'rules', key: `task/${id}`, value: JSON.stringify(value) })
  }
  if (taken.length > 0)
    throw new AppError(
      'CONFLICT',
      `${taken.join('\n')}\nTwo deployments share the topics; start one of them with another \`--prefix\`, or rename the tasks`,
    )
  for (const { id, from: publisher } of book.tasks.values())
    if (publisher === from && !wanted.has(id)) records.push({ topic: 'rules', key: `task/${id}`, value: null })
  return records
}
