import { describe, expect, it } from 'vitest'
import { condition } from '../../plugins/condition/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const hot = { '>': [{ var: 'temperature' }, 25] }

describe('condition', () => {
  it.each([
    [hot, { temperature: 26 }, 'True'],
    [hot, { temperature: 25 }, 'False'],
    [hot, {}, 'False'],
    [hot, { temperature: Number.NaN }, 'False'],
    [hot, { temperature: null }, 'False'],
    [{ '<': [{ var: 'temperature' }, 25] }, {}, 'True'],
    [{ '<': [{ var: 'temperature' }, 25] }, { temperature: Number.NaN }, 'False'],
    [{ and: [{ '!': { missing: ['temperature'] } }, { '<': [{ var: 'temperature' }, 25] }] }, {}, 'False'],
    ['{">":[{"var":"temperature"},25]}', { temperature: 26 }, 'True'],
    [{ and: [hot, { '<': [{ var: 'humidity' }, 60] }] }, { temperature: 26, humidity: 50 }, 'True'],
    [{ and: [hot, { '<': [{ var: 'humidity' }, 60] }] }, { temperature: 26, humidity: 70 }, 'False'],
    [{ var: 'list' }, { list: [] }, 'False'],
    [{ var: 'list' }, { list: [0] }, 'True'],
    [{ var: 'text' }, { text: '0' }, 'True'],
    [{ var: 'text' }, { text: '' }, 'False'],
    [{ '==': [{ var: 'nodes.range_1.state' }, 'Above'] }, {}, 'True'],
    [{ '>': [{ var: 'nodes.range_1.rawData.value' }, { var: 'variables.limit' }] }, {}, 'True'],
    [{ '>': [{ var: 'nodes.range_2.rawData.value' }, { var: 'variables.limit' }] }, {}, 'False'],
  ])('%j over %j is %s', (logic, message, state) => {
    const call = { nodes: { range_1: { state: 'Above', value: 9 } }, variables: { limit: 5 } }
    expect(runPlug(condition, { ...call, properties: { condition: logic }, message }).state).toBe(state)
  })

  it.each([[{}], [{ '>': [1, 0], '<': [1, 0] }], ['temperature > 25'], ['[1]'], [[1]], [true], [null]])(
    'refuses %j and shows what JSON Logic looks like',
    (logic) => {
      const problems = checkPlug(condition, { condition: logic })
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(/^condition: .*JSON Logic object.*\{">":\[\{"var":"temperature"\},25\]\}/)
    },
  )

  it('names an operator that there is not', () => {
    expect(checkPlug(condition, { condition: { more: [1, 2] } }).join()).toContain('more')
  })

  it('has nothing to say about a condition that is fine or not known', () => {
    expect(checkPlug(condition, { condition: hot })).toEqual([])
    expect(checkPlug(condition, {})).toEqual([])
  })
})
