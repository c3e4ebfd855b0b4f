import type { Rule, TaskSettings } from '../../../src/core/rule/rule.ts'
import type { ModelEvent } from './model-event.ts'
import { ModelTask } from './model-task.ts'
import { type Script, SCRIPT_START } from './script.ts'
import type { TestPlug } from './test-plugs.ts'

/** Runs a script on the model of a rule, and returns what happens. */
export function runModel(
  rule: Rule,
  settings: TaskSettings,
  plugs: Readonly<Record<string, TestPlug>>,
  script: Script,
  runsAtStart = false,
): ModelEvent[] {
  const task = new ModelTask({ ...rule, task: { ...rule.task, ...settings } }, plugs, SCRIPT_START, runsAtStart)
  task.start()
  for (const { at, input } of script) {
    task.advanceTo(SCRIPT_START + at)
    switch (input.kind) {
      case 'wait':
        break
      case 'data':
        task.receive(input.messages)
        break
      case 'push':
        task.push(input.node, input)
        break
      case 'run':
        task.run(input.node)
        break
      case 'resume':
        task.resume(input.node)
        break
      case 'settle':
        task.settle(input.node, input.state)
        break
      case 'stop':
        task.stop()
        break
      case 'start':
        if (!task.running) task.start()
        break
    }
  }
  return task.events
}
