/** Reads what a worker or server says that its model takes: it may have been told by the model, so that nothing of it is believed. */
import { isPlainObject } from '#kernel'
import { OPERATIONS } from './contract.ts'
import type { Signature, SignatureInput } from './driver.ts'

const MAX_SIGNATURES = 50
const MAX_INPUTS = 500
const MAX_DIMENSIONS = 8
const MAX_NAME = 200
const TYPES = ['number', 'integer', 'text', 'boolean'] as const

/** What is none is left out. */
export function readSignatures(told: unknown): readonly Signature[] {
  return listOf(told, MAX_SIGNATURES).flatMap((one): readonly Signature[] => {
    if (!isPlainObject(one)) return []
    const operation = OPERATIONS.find((known) => known === one['operation'])
    if (operation === undefined) return []
    const inputs = listOf(one['inputs'], MAX_INPUTS).flatMap(inputOf)
    return [{ ...named(one), operation, inputs }]
  })
}

function inputOf(told: unknown): readonly SignatureInput[] {
  if (!isPlainObject(told)) return []
  const type = TYPES.find((known) => known === told['type'])
  const shape = listOf(told['shape'], MAX_DIMENSIONS).map((length) =>
    Number.isInteger(length) && Number(length) >= 0 ? Number(length) : null,
  )
  return type === undefined ? [] : [{ ...named(told), type, shape }]
}

function named({ name }: Readonly<Record<string, unknown>>): { readonly name?: string } {
  return typeof name === 'string' ? { name: name.slice(0, MAX_NAME) } : {}
}

function listOf(value: unknown, most: number): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]).slice(0, most) : []
}
