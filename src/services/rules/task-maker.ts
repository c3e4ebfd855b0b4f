/** From a specification to what is stored of a task: read, checked, plug versions written out. Stores nothing. */
import { Preparer } from '../../core/engine/prepare.ts'
import type { Prepared } from '../../core/engine/prepared.ts'
import type { PlugRegistry } from '../../core/plug/plug.ts'
import type { CheckOptions } from '../../core/rule/check/report.ts'
import type { Rule, TaskSettings } from '../../core/rule/rule.ts'
import { describeIssue, validationError, type Issue } from '../../kernel/errors.ts'
import type { Books } from './books.ts'
import { unknownTemplate } from './error-texts.ts'
import { plugsOf, withExactVersions } from './plug-versions.ts'
import { readSpecification, settingsOf } from './read-specification.ts'
import type { RunnableTask, TaskRef } from './runner.ts'
import type { Source, SourceShelf } from './source-shelf.ts'
import type { TaskRecord } from './task-record.ts'

/** What a specification decides about a task. */
export interface Draft {
  readonly fields: Pick<
    TaskRecord,
    'name' | 'form' | 'conf' | 'template' | 'source' | 'rule' | 'settings' | 'effective' | 'plugs'
  >
  /** of a task made of a template */
  readonly source: Source | undefined
  readonly prepared: Prepared
  /** notes among them */
  readonly warnings: readonly Issue[]
  /** as the specification or the template's defaults say */
  readonly start: boolean | undefined
}

/** What a task is made of, apart from what was posted. */
export interface Parts {
  readonly source: Source | undefined
  readonly rule: Rule | undefined
  readonly settings: TaskSettings
}

export class TaskMaker {
  readonly plugs: PlugRegistry
  readonly #shelf: SourceShelf
  readonly #preparer: Preparer

  constructor(plugs: PlugRegistry, shelf: SourceShelf) {
    this.plugs = plugs
    this.#shelf = shelf
    this.#preparer = new Preparer(plugs)
  }

  /** Throws `VALIDATION` with every problem. */
  async make(books: Books, specification: unknown, options: CheckOptions = {}): Promise<Draft> {
    const read = readSpecification(specification, this.plugs, options)
    const conf = specification as TaskRecord['conf']
    if (read.form !== 'template') {
      const { task = {}, ...graph } = read.rule
      const { start, ...settings } = task
      const rule = withExactVersions(graph, this.plugs)
      return this.#draft(
        { source: undefined, rule, settings },
        { form: read.form, conf },
        start,
        read.warnings,
        options,
      )
    }
    const { template, ...request } = read.request
    const stored = await books.templates.get(template)
    if (stored === undefined) throw unknownTemplate(template)
    const { start, ...settings } = settingsOf({ template, ...request })
    const source = this.#shelf.ofTemplate(books, stored)
    return this.#draft(
      { source, rule: undefined, settings },
      { form: 'template', conf, template },
      start,
      read.warnings,
      options,
    )
  }

  /** The same task of other parts; what was posted stays. */
  remake(task: TaskRecord, parts: Parts): Draft {
    return this.#draft(parts, task, undefined, [])
  }

  /** The parts of a stored task. */
  async parts(books: Books, task: TaskRecord): Promise<Parts> {
    const source = task.source === undefined ? undefined : await this.#shelf.load(books, task.source)
    return { source, rule: task.rule, settings: task.settings }
  }

  /** What a stored task runs as; checked and compiled once for all that share it. Throws `VALIDATION`. */
  prepare({ source, rule, settings }: Parts, options: CheckOptions = {}): Prepared {
    return this.#preparer.prepare(source?.document ?? rule ?? {}, settings, options)
  }

  #draft(
    parts: Parts,
    posted: Pick<TaskRecord, 'form' | 'conf' | 'template'>,
    start: boolean | undefined,
    found: readonly Issue[],
    options: CheckOptions = {},
  ): Draft {
    const prepared = this.prepare(parts, options)
    const { source, rule, settings } = parts
    const { form, conf, template } = posted
    const { nodes: _used, start: wanted, ...merged } = prepared.rule.task ?? {}
    return {
      fields: {
        name: prepared.settings.name,
        form,
        conf,
        ...(template !== undefined && { template }),
        ...(source !== undefined && { source: source.id }),
        ...(rule !== undefined && { rule }),
        settings,
        effective: { ...merged, type: prepared.settings.type },
        plugs: plugsOf(prepared.rule, this.plugs),
      },
      source,
      prepared,
      warnings: distinct([...found, ...prepared.warnings].filter(({ severity }) => severity !== 'ERROR')),
      start: start ?? wanted,
    }
  }
}

/** What the runner gets of a task. */
export function runnable(ref: TaskRef, epoch: number, createTime: number, parts: Parts): RunnableTask {
  const { source, rule, settings } = parts
  return { tenant: ref.tenant, id: ref.id, epoch, createTime, source: source?.document ?? rule ?? {}, settings }
}

/** A rule with warnings, for a client that asked to have it refused then. Notes refuse nothing. */
export function refuseWarnings(issues: readonly Issue[]): void {
  const warnings = issues.filter(({ severity }) => severity === 'WARNING')
  if (warnings.length === 0) return
  throw validationError(
    'the task',
    warnings.map((issue) => ({ ...issue, severity: 'ERROR' as const })),
  )
}

function distinct(issues: readonly Issue[]): readonly Issue[] {
  const byText = new Map(issues.map((issue) => [`${issue.type} ${describeIssue(issue)}`, issue]))
  return [...byText.values()]
}
