/** Routes of secrets: values are write-only. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { addRoutes, routesOf } from '#services/shared'
import type { VaultApi, VaultService } from './contract.ts'
import { ErrorSchema, SecretSchema, SecretsSchema, SecretValue } from './secret-schema.ts'

const route = routesOf<VaultApi>()

const ROUTES = [
  route({
    method: 'GET',
    path: '/vault/v1/secrets',
    scope: 'admin',
    summary: 'Names of the secrets of the tenant',
    answers: { 200: SecretsSchema },
    handler: async ({ api }) => ({ secrets: await api.list() }),
  }),
  route({
    method: 'PUT',
    path: '/vault/v1/secrets/:name',
    scope: 'admin',
    summary: 'Create or replace a secret',
    body: SecretValue,
    answers: { 200: SecretSchema, 201: SecretSchema },
    handler: async ({ api, params, body, reply }) => {
      const { secret, created } = await api.put(params.name, body.value)
      return reply.code(created ? 201 : 200).send(secret)
    },
  }),
  route({
    method: 'DELETE',
    path: '/vault/v1/secrets/:name',
    scope: 'admin',
    summary: 'Remove a secret',
    answers: { 204: Type.Null() },
    handler: ({ api, params }) => api.remove(params.name),
  }),
]

export function vaultRoutes(app: FastifyInstance, { service }: { service: VaultService }): Promise<void> {
  return addRoutes(app, service, { tag: 'vault', errors: ErrorSchema, routes: ROUTES })
}
