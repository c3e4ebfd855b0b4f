import { describe, expect, it } from 'vitest'
import { changedBy } from '../../../../plugins/changed-by/plug.ts'
import { createFunction } from '../../../../plugins/function/plug.ts'
import { hysteresis } from '../../../../plugins/hysteresis/plug.ts'
import { compileCondition } from '../../../../src/core/language/expression/condition.ts'
import type { Plug } from '../../../../src/core/plug/plug.ts'
import { Sandbox } from '../../../../src/core/language/script/sandbox.ts'
import { messageOf } from '../../../../src/kernel/errors.ts'
import { checkPlug, runPlug } from '../../../support/plug-context.ts'
import { thrown } from './thrown.ts'

const NAME = '1-0:1.8.0'
const WRITTEN = `streamdata["${NAME}"]`
const message: Readonly<Record<string, number>> = { [NAME]: 12 }
const formulas = createFunction(new Sandbox())

describe('a metric with dots in its name', () => {
  it.each([
    ['an expression', () => compileCondition(`${NAME} > 5`), 'streamdata["1-0:1.8.0"]'],
    ['JSON Logic', () => compileCondition({ '>': [{ var: NAME }, 5] }), 'streamdata[\\"1-0:1.8.0\\"]'],
  ])('is rejected in %s, with the form to write', (_, compile, written) => {
    expect(messageOf(thrown(compile))).toContain(written)
  })

  it('is rejected by plugs, with the form to write', () => {
    expect(hysteresis.check?.({ value: NAME, enter: 2, leave: 1 })[0]?.suggestion).toContain(WRITTEN)
    expect(changedBy.check?.({ value: NAME, by: 1 })[0]?.suggestion).toContain(WRITTEN)
    expect(checkPlug(formulas, { formula: `<GLOBAL.${NAME}> * 2`, threshold: 1 }).join()).toContain(`\${${WRITTEN}}`)
  })

  it('can be read with the suggested form', () => {
    const holds = (condition: unknown) =>
      compileCondition(condition).holds(({ segments }) => message[segments[0] ?? ''], 0)
    expect(holds(`${WRITTEN} > 5`)).toBe(true)
    expect(holds({ '>': [{ var: WRITTEN }, 5] })).toBe(true)
    const state = (plug: Plug, properties: Record<string, unknown>) => runPlug(plug, { properties, message }).state
    expect(state(hysteresis, { value: WRITTEN, enter: 5, leave: 1 })).toBe('On')
    expect(state(changedBy, { value: WRITTEN, by: 1 })).toBe('Unchanged')
    expect(state(formulas, { formula: `\${${WRITTEN}} * 2`, threshold: 20 })).toBe('Above')
  })
})
