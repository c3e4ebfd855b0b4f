import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reachTenant, TENANT_FIRST } from '../../../src/host/cluster/reach-tenant.ts'
import type { ServiceRegistry } from '../../../src/host/wiring/service-registry.ts'
import type { SecretInfo, VaultService } from '../../../src/services/vault/contract.ts'

const SERVICES = join(import.meta.dirname, '../../../src/services')

/** Methods of services, as their contracts have them, whose first parameter is the tenant. */
function methodsWithTenant(): readonly string[] {
  const paths = readdirSync(SERVICES).map((name) => join(SERVICES, name, 'contract.ts'))
  return paths
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const services = readFileSync(path, 'utf8').matchAll(/^export interface \w+Service\b[^{]*\{([^]*?)^\}/gm)
      return [...services].flatMap(([, body = '']) =>
        [...body.matchAll(/^ {2}(\w+)\??\(\s*tenant: string/gm)].map(([, name = '']) => name),
      )
    })
}

describe('a service as the routes of a cluster see it', () => {
  it('knows all methods that name the tenant before all else', () => {
    expect([...TENANT_FIRST].map(String).toSorted()).toEqual([...new Set(methodsWithTenant())].toSorted())
  })

  it('is that of the tenant, and its own where nobody is named', async () => {
    const asked: string[] = []
    const vaultOf = (name: string) =>
      ({
        open: (tenant: string) => Promise.resolve({ values: new Map([['of', `${name} ${tenant}`]]), revision: '' }),
        as: ({ tenant }: { readonly tenant: string }) => ({
          list: () => Promise.resolve([{ name: `${name} ${tenant}` } as SecretInfo]),
        }),
        stop: () => void asked.push(name),
      }) as unknown as VaultService & { stop(): void }
    const own = vaultOf('none')
    const of = (tenant: string): ServiceRegistry => ({ vault: vaultOf(tenant) })
    const reached = reachTenant('vault', own, { of, isNobodys: () => false, all: () => [] })
    expect((await reached.open('acme', [])).values.get('of')).toBe('acme acme')
    expect(await reached.as({ tenant: 'acme', user: 'anna' }).list()).toEqual([{ name: 'acme acme' }])
    reached.stop()
    expect(asked).toEqual(['none'])
  })
})
