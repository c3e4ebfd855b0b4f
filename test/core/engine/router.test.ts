import { describe, expect, it } from 'vitest'
import { Router } from '../../../src/core/engine/router.ts'

class Source {
  readonly listeners = new Set<string>()
  changes = 0
  changed(): void {
    this.changes++
  }
}

const newRouter = (): Router<string, Source> => new Router(() => new Source())

const at = (router: Router<string, Source>, resource: string) => [...(router.sourceOf(resource)?.listeners ?? [])]

describe('the router', () => {
  it('gives the listeners of a resource in the order in which they came', () => {
    const router = newRouter()
    router.add('b', ['r', 'q'])
    router.add('a', ['r'])
    expect(at(router, 'r')).toEqual(['b', 'a'])
    expect(at(router, 'q')).toEqual(['b'])
    expect(router.sourceOf('x')).toBeUndefined()
  })

  it('knows a listener by its last resources only', () => {
    const router = newRouter()
    router.add('a', ['r', 'q'])
    router.add('a', ['q', 'p'])
    expect(router.sourceOf('r')).toBeUndefined()
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
    expect(router.sourceOf('r')).toBeUndefined()
  })

  it('tells what is kept with a resource when listeners come and go', () => {
    const router = newRouter()
    router.add('a', ['r'])
    const source = router.sourceOf('r')
    router.add('b', ['r'])
    router.remove('a')
    expect(source?.changes).toBe(3)
  })

  it.each(['__proto__', 'constructor', 'toString'])('has nobody at %s by nature', (resource) => {
    const router = newRouter()
    expect(router.sourceOf(resource)).toBeUndefined()
    router.add('a', [resource])
    expect(at(router, resource)).toEqual(['a'])
  })
})
