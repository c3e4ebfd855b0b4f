import { beforeEach, describe, expect, it } from 'vitest'
import { NOWHERE, Router, type Routed } from '../../../src/core/engine/router.ts'

class Listener implements Routed {
  routed = NOWHERE
}

class Source {
  readonly listeners = new Set<Listener>()
  changes = 0
  changed(): void {
    this.changes++
  }
}

const newRouter = (): Router<Listener, Source> => new Router(() => new Source())
let [a, b] = [new Listener(), new Listener()]
beforeEach(() => {
  ;[a, b] = [new Listener(), new Listener()]
})

const at = (router: Router<Listener, Source>, resource: string) => [...(router.sourceOf(resource)?.listeners ?? [])]

describe('the router', () => {
  it('returns the listeners of a resource in order of registration', () => {
    const router = newRouter()
    router.add(b, ['r', 'q'])
    router.add(a, ['r'])
    expect(at(router, 'r')).toEqual([b, a])
    expect(at(router, 'q')).toEqual([b])
    expect(router.sourceOf('x')).toBeUndefined()
  })

  it('uses only the last resources of a listener', () => {
    const router = newRouter()
    router.add(a, ['r', 'q'])
    router.add(a, ['q', 'p'])
    expect(router.sourceOf('r')).toBeUndefined()
    expect(at(router, 'q')).toEqual([a])
    expect(at(router, 'p')).toEqual([a])
  })

  it('removes a listener, and a resource with its last listener', () => {
    const router = newRouter()
    router.add(a, ['r'])
    router.add(b, ['r'])
    router.remove(a)
    expect(at(router, 'r')).toEqual([b])
    router.remove(b)
    router.remove(new Listener())
    expect(router.sourceOf('r')).toBeUndefined()
  })

  it('reports data kept with a resource when listeners change', () => {
    const router = newRouter()
    router.add(a, ['r'])
    const source = router.sourceOf('r')
    router.add(b, ['r'])
    router.remove(a)
    expect(source?.changes).toBe(3)
  })

  it.each(['__proto__', 'constructor', 'toString'])('has no listener for %s by default', (resource) => {
    const router = newRouter()
    expect(router.sourceOf(resource)).toBeUndefined()
    router.add(a, [resource])
    expect(at(router, resource)).toEqual([a])
  })
})
