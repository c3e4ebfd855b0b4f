/** What makes, changes and shows the tasks of one tenant, with the plugs that this tenant has. */
import type { Plug } from '../../core/plug/plug.ts'
import { createRegistry } from '../../core/plug/registry.ts'
import type { Ports } from '../../core/ports.ts'
import { GraphForms } from './graph-forms.ts'
import type { TaskRef, TaskRunner } from './runner.ts'
import { SourceShelf } from './source-shelf.ts'
import { TaskChanges } from './task-changes.ts'
import { TaskMaker } from './task-maker.ts'
import { TaskShow } from './task-show.ts'
import type { RunSurroundings } from './template-run.ts'

export interface WorkshopParts {
  readonly plugs: readonly Plug[]
  readonly ports: Ports
  readonly runner: TaskRunner
  /** epoch ms */
  readonly now: () => number
  /** told of every task that is gone */
  readonly removed: (task: TaskRef) => void
}

export class Workshop {
  readonly shelf: SourceShelf
  readonly maker: TaskMaker
  readonly changes: TaskChanges
  readonly forms: GraphForms
  readonly show: TaskShow
  readonly around: RunSurroundings

  /** Throws `PLUG` when two of the plugs have one name and version. */
  constructor({ plugs, ports, runner, now, removed }: WorkshopParts) {
    const registry = createRegistry(plugs)
    this.shelf = new SourceShelf(registry, now)
    this.maker = new TaskMaker(registry, this.shelf)
    this.changes = new TaskChanges(this.maker, this.shelf, runner, now, removed)
    this.forms = new GraphForms(registry)
    this.show = new TaskShow(this.shelf, this.forms, runner.nodes)
    this.around = { plugs, registry, ports, now }
  }
}
