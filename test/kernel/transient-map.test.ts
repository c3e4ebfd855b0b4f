import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TransientMap } from '../../src/kernel/transient-map.ts'

const keys = fc.oneof(fc.nat(9), fc.constantFrom('__proto__', 'constructor', 'toString', '01', 'a'))
const byValue = (a: number, b: number): number => a - b
const steps = fc.array(fc.tuple(fc.constantFrom('set', 'delete', 'clear'), keys), { maxLength: 40 })

describe('a map of short-lived entries', () => {
  it('behaves like a Map', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const map = new TransientMap<string | number, number>()
        const model = new Map<string, number>()
        for (const [n, [step, key]] of given.entries()) {
          if (step === 'set') {
            map.set(key, n)
            model.set(String(key), n)
          } else if (step === 'delete') expect(map.delete(key)).toBe(model.delete(String(key)))
          else if (n % 7 === 0) {
            map.clear()
            model.clear()
          }
          expect(map.get(key)).toBe(model.get(String(key)))
          expect(map.size).toBe(model.size)
          expect(map.values().toSorted(byValue)).toEqual([...model.values()].toSorted(byValue))
        }
      }),
    )
  })

  it('returns the smallest number first', () => {
    const map = new TransientMap<number, string>()
    for (let n = 1; n <= 100; n++) map.set(n, String(n))
    for (let n = 1; n <= 90; n++) map.delete(n)
    expect(map.values()).toEqual(['91', '92', '93', '94', '95', '96', '97', '98', '99', '100'])
  })
})
