import { describe, expect, it } from 'vitest'
import { Report } from '../../../../src/core/rule/check/report.ts'

describe('a report', () => {
  it('suggests the closest name, among hundreds too', () => {
    const names = Array.from({ length: 900 }, (_, i) => `room_${i}`)
    expect(new Report().suggest('thermometre', [...names, 'thermometer'], 'nodes')).toBe('did you mean "thermometer"?')
  })

  it('lists all names if none is similar', () => {
    expect(new Report().suggest('xyz', 'abcdefghij', 'nodes')).toBe(
      'the nodes are "a", "b", "c", "d", "e", "f", "g", "h" ...',
    )
    expect(new Report().suggest('xyz', [], 'nodes')).toBeUndefined()
  })

  it('keeps an error after a thousand warnings', () => {
    const report = new Report()
    for (let i = 0; i < 1500; i++) report.warning('FIELD', '', 'w')
    expect(report.hasErrors).toBe(false)
    report.error('TYPE', '', 'e')
    expect(report.hasErrors).toBe(true)
    expect(report.issues.filter(({ severity }) => severity === 'ERROR')).toHaveLength(1)
    expect(report.issues).toHaveLength(1001)
  })
})
