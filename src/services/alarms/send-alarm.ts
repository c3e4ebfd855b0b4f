/** Sends an alarm with its link and tag. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { linkTo, withTag } from '#services/shared'
import type { Alarm } from './contract.ts'

export function sendAlarm(reply: FastifyReply, alarm: Alarm): Alarm {
  return withTag(reply, withLink(reply.request, alarm))
}

export function withLink(request: FastifyRequest, alarm: Alarm): Alarm {
  return { ...alarm, self: linkTo(request, alarm.self) }
}
