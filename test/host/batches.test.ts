/** Tests the common route for operations on tasks and on resources. */
import { describe, expect, it } from 'vitest'
import { wholeHost } from './whole-host.ts'

describe('POST /api/batch', () => {
  it('accepts operations on resources, and GET reports the result of each', async () => {
    await using host = await wholeHost({ only: 'rules,resources' })
    await host.ask('POST', '/api/resources', { id: 'r1' })
    const body = { entity: 'resource', action: 'delete', query: { ids: ['r1', 'r2'] } }
    const queued = await host.ask('POST', '/api/batch', body)
    expect(queued).toMatchObject({
      status: 202,
      body: {
        statusCode: 202,
        entity: { operation: { entity: 'resource', action: 'delete', description: 'deleting 2 resources' } },
      },
    })
    const status = () => host.ask('GET', String(queued.body['uri']))
    await expect.poll(async () => (await status()).body['finishedTime']).toBeTypeOf('string')
    expect((await status()).body['results']).toEqual({
      success: { r1: { statusCode: 204 } },
      failure: { r2: { statusCode: 404, error: 'No resource with id r2' } },
    })
  })

  it('is listed among the jobs of the tenant, with what it does', async () => {
    await using host = await wholeHost({ only: 'rules,resources,functions' })
    await host.ask('POST', '/api/resources', { id: 'r1' })
    const body = { entity: 'resource', action: 'delete', query: { ids: ['r1'] } }
    const { body: queued } = await host.ask('POST', '/api/batch', body)
    const { id } = queued['entity'] as { readonly id: string }
    const job = async () => {
      const { jobs } = (await host.ask('GET', '/registry/v2/jobs')).body as { readonly jobs: readonly { id: string }[] }
      return jobs.find((one) => one.id === id)
    }
    await expect.poll(job).toMatchObject({ type: 'batch', operation: 'deleting 1 resource', state: 'completed' })
  })

  it('accepts only tasks if resources are not served', async () => {
    await using host = await wholeHost({ only: 'rules' })
    const refused = await host.ask('POST', '/api/batch', {
      entity: 'resource',
      action: 'delete',
      query: { ids: ['a'] },
    })
    expect([refused.status, refused.body['error']]).toEqual([
      400,
      expect.stringContaining('/entity <- "resource" is unknown'),
    ])
  })
})
