import { describe, expect, it } from 'vitest'
import { Router } from '../../../src/core/engine/router.ts'

interface Source {
  readonly number: number
  changes: number
  changed(): void
}

function newRouter(): Router<string, Source> {
  return new Router((number) => {
    return {
      number,
      changes: 0,
      changed() {
        this.changes++
      },
    }
  })
}

const at = (router: Router<string, Source>, resource: string) => [...(router.listenersOf(resource) ?? [])]

describe('the router', () => {
  it('gives the listeners of a resource in the order in which they came', () => {
    const router = newRouter()
    router.add('b', ['r', 'q'])
    router.add('a', ['r'])
    expect(at(router, 'r')).toEqual(['b', 'a'])
    expect(at(router, 'q')).toEqual(['b'])
    expect(router.listenersOf('x')).toBeUndefined()
  })

  it('knows a listener by its last resources only', () => {
    const router = newRouter()
    router.add('a', ['r', 'q'])
    router.add('a', ['q', 'p'])
    expect(router.listenersOf('r')).toBeUndefined()
    expect(at(router, 'q')).toEqual(['a'])
    expect(at(router, 'p')).toEqual(['a'])
  })

  it('forgets a listener, and a resource with its last listener', () => {
    const router = newRouter()
    router.add('a', ['r'])
    router.add('b', ['r'])
    router.remove('a')
    expect(at(router, 'r')).toEqual(['b'])
    router.remove('b')
    router.remove('never there')
    expect(router.listenersOf('r')).toBeUndefined()
  })

  it('gives a resource a number, and the number to another when nobody listens to it any more', () => {
    const router = newRouter()
    router.add('a', ['r'])
    router.add('b', ['q'])
    expect([router.numberOf('r'), router.numberOf('q')]).toEqual([0, 1])
    router.remove('a')
    expect(router.at(0)).toBeUndefined()
    router.add('c', ['p'])
    expect(router.numberOf('p')).toBe(0)
    expect(router.at(0)?.source.number).toBe(0)
  })

  it('tells what is kept with a resource when listeners come and go', () => {
    const router = newRouter()
    router.add('a', ['r'])
    const source = router.at(0)?.source
    router.add('b', ['r'])
    router.remove('a')
    expect(source?.changes).toBe(3)
  })

  it.each(['__proto__', 'constructor', 'toString'])('has nobody at %s by nature', (resource) => {
    const router = newRouter()
    expect(router.numberOf(resource)).toBeUndefined()
    router.add('a', [resource])
    expect(at(router, resource)).toEqual(['a'])
  })
})
