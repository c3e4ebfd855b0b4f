import { describe, expect, it } from 'vitest'
import { Router } from '../../../src/core/engine/router.ts'

const at = (router: Router<string>, resource: string) => [...(router.at(resource) ?? [])]

describe('the router', () => {
  it('gives the listeners of a resource in the order in which they came', () => {
    const router = new Router<string>()
    router.add('b', ['r', 'q'])
    router.add('a', ['r'])
    expect(at(router, 'r')).toEqual(['b', 'a'])
    expect(at(router, 'q')).toEqual(['b'])
    expect(router.at('x')).toBeUndefined()
  })

  it('knows a listener by its last resources only', () => {
    const router = new Router<string>()
    router.add('a', ['r', 'q'])
    router.add('a', ['q', 'p'])
    expect(router.at('r')).toBeUndefined()
    expect(at(router, 'q')).toEqual(['a'])
    expect(at(router, 'p')).toEqual(['a'])
  })

  it('forgets a listener, and a resource with its last listener', () => {
    const router = new Router<string>()
    router.add('a', ['r'])
    router.add('b', ['r'])
    router.remove('a')
    expect(at(router, 'r')).toEqual(['b'])
    router.remove('b')
    router.remove('never there')
    expect(router.at('r')).toBeUndefined()
  })

  it.each(['__proto__', 'constructor', 'toString'])('has nobody at %s by nature', (resource) => {
    const router = new Router<string>()
    expect(router.at(resource)).toBeUndefined()
    router.add('a', [resource])
    expect(at(router, resource)).toEqual(['a'])
  })
})
