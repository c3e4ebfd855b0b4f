/** Routes of contacts, policies and notifications. */
import type { FastifyInstance } from 'fastify'
import { addRoutes, documentRoutes, routesOf } from '#services/shared'
import { type Contact, ContactConfiguration, ContactSchema, TestedSchema } from './contact-schema.ts'
import type { NotificationApi, NotificationService } from './contract.ts'
import {
  ErrorSchema,
  FILTER,
  NotificationSchema,
  NotificationsSchema,
  ON_CALL,
  OnCallSchema,
} from './notification-schema.ts'
import { type Policy, PolicyConfiguration, PolicySchema } from './policy-schema.ts'

const route = routesOf<NotificationApi>()

const ROUTES = [
  ...documentRoutes<NotificationApi, Contact>({
    path: '/alarm/contacts',
    one: 'contact',
    many: 'contacts',
    scope: 'author',
    body: ContactConfiguration,
    shown: ContactSchema,
    pick: ({ contacts }) => contacts,
  }),
  route({
    method: 'POST',
    path: '/alarm/contacts/:name/test',
    scope: 'operate',
    summary: 'Send a test over each channel of a contact at once',
    answers: { 200: TestedSchema },
    handler: ({ api, params }) => api.contacts.test(params.name),
  }),
  ...documentRoutes<NotificationApi, Policy>({
    path: '/alarm/policies',
    one: 'policy',
    many: 'policies',
    scope: 'author',
    body: PolicyConfiguration,
    shown: PolicySchema,
    pick: ({ policies }) => policies,
  }),
  route({
    method: 'GET',
    path: '/alarm/notifications',
    scope: 'read',
    summary: 'Notifications with their receipts, newest first; kept for 30 days',
    query: FILTER,
    answers: { 200: NotificationsSchema },
    handler: ({ api, query }) => api.notifications.list(query),
  }),
  route({
    method: 'GET',
    path: '/alarm/notifications/:id',
    scope: 'read',
    summary: 'One notification',
    answers: { 200: NotificationSchema },
    handler: ({ api, params }) => api.notifications.get(params.id),
  }),
  route({
    method: 'GET',
    path: '/alarm/on-call',
    scope: 'read',
    summary: 'Who is on call, by the calendars of the policies or one calendar',
    query: ON_CALL,
    answers: { 200: OnCallSchema },
    handler: ({ api, query }) => api.onCall(query),
  }),
]

export function notificationRoutes(app: FastifyInstance, { service }: { service: NotificationService }): Promise<void> {
  return addRoutes(app, service, { tag: 'notification', errors: ErrorSchema, routes: ROUTES })
}
