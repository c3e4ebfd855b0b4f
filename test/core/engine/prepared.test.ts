import { describe, expect, it } from 'vitest'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import type { TaskSettings, Template } from '../../../src/core/rule/rule.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { on } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const template: Template = {
  name: 'threshold',
  sensors: [{ label: 's', ...on('switch') }],
  variables: [{ name: 'limit', type: 'integer', defaultValue: 3 }],
  taskDefaults: { type: 'reactive' },
}

function prepareBoth(a: TaskSettings, b: TaskSettings) {
  const preparer = new Preparer(createRegistry(new ScriptedPlugs().plugs))
  return [preparer.prepare(template, a), preparer.prepare(template, b)] as const
}

describe('tasks of one template', () => {
  it('share their settings when only their resources differ, and each knows its own', () => {
    const [a, b] = prepareBoth({ resource: 'a' }, { resource: 'b' })
    expect(b.settings).toBe(a.settings)
    expect([a.resource, b.resource]).toEqual(['a', 'b'])
    expect([a.rule.task?.resource, b.rule.task?.resource]).toEqual(['a', 'b'])
    expect(a.rule.task).toMatchObject({ type: 'reactive', variables: { limit: 3 } })
  })

  it.each<[string, TaskSettings]>([
    ['variables', { variables: { limit: 4 } }],
    ['tags', { tags: { floor: 1 } }],
    ['clock', { type: 'periodic', frequency: 1000 }],
  ])('have settings of their own when their %s differ', (_, settings) => {
    const [a, b] = prepareBoth({}, settings)
    expect(b.settings).toMatchObject(settings)
    expect(a.settings).not.toMatchObject(settings)
    expect(b.rule.task).toMatchObject(settings)
  })

  it('share them when only their names differ, and each knows its own', () => {
    const [a, b] = prepareBoth({ name: 'mine', resource: 'r' }, { name: 'yours', resource: 'r' })
    expect(b.settings).toBe(a.settings)
    expect([a.name, b.name]).toEqual(['mine', 'yours'])
    expect([a.rule.task?.name, b.rule.task?.name]).toEqual(['mine', 'yours'])
  })

  it('have no resource when they are given an empty one, which their rule keeps', () => {
    const [a, b] = prepareBoth({ resource: 'a' }, { resource: '' })
    expect(b.resource).toBeUndefined()
    expect(b.rule.task?.resource).toBe('')
    expect(a.resource).toBe('a')
  })
})
