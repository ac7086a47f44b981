import { costOf, costTerms } from '../../../relay/billing/index.js';
import { NO_TOKENS } from '../../../protocols/contract/index.js';
import { price, times, usd } from '../../../platform/format/index.js';
import { admissionSteps } from './admission-steps.js';
import type { RoutingResult } from './routing-result.js';
import { becauseOf, destinationOf, routeRow } from './route-text.js';
import { excludedRow, unavailableRow } from './skipped-text.js';

/** The view of a dry run. */
export function routingResult(asked: RoutingResult) {
  const { answer, question, account, key } = asked;
  const { outlook, routes, refusal } = answer;
  const who = `${account.email} with ${key === undefined ? 'a new API key' : `the API key “${key.name}”`}`;
  const call = `A call to ${question.model} by ${who}`;
  return {
    isRefused: refusal !== undefined,
    verdict:
      refusal === undefined ? `${call} would be routed to ${destinationOf(routes)}.` : `${call} would be rejected.`,
    because: refusal === undefined ? becauseOf(routes, question.protocol) : refusal.message,
    steps: admissionSteps(asked),
    price: priceOf(asked),
    routes: [
      ...routes.map((route, index) => routeRow(route, index + 1, question.protocol)),
      ...outlook.hindered.map((hindered) => unavailableRow(hindered, answer.askedAt, asked.timeZone)),
      ...outlook.excluded.map(excludedRow),
    ],
  };
}

const ONE = 1_000_000n;

function priceOf({ answer: { terms, plan }, question: { promptTokens, outputLimit } }: RoutingResult) {
  if (terms === undefined || plan === undefined) return undefined;
  const {
    pricing,
    groupMultiplier,
    effortMultiplier,
    serviceMultiplier,
    speedMultiplier = ONE,
    geoMultiplier = ONE,
  } = terms;
  const usage = { ...NO_TOKENS, input: promptTokens, output: outputLimit ?? plan.model.maxOutputTokens };
  const tier = pricing.tiers.findLast(
    ({ fromPromptTokens }) => fromPromptTokens > 0 && fromPromptTokens <= promptTokens,
  );
  return {
    isFree: pricing.costsNothing,
    tierFrom: tier?.fromPromptTokens,
    lines: costTerms(pricing, usage).map(({ item, price: perMillion, isFee }) => ({
      name: isFee ? 'Fee per call' : `${item === 'input' ? 'Input' : 'Output'} per 1M tokens`,
      price: isFee ? usd(perMillion) : price(perMillion),
    })),
    multipliers: [
      { name: `Group ${plan.group.name}`, value: groupMultiplier, isShown: true },
      { name: 'Effort', value: effortMultiplier, isShown: effortMultiplier !== ONE },
      { name: 'Service tier (highest)', value: serviceMultiplier, isShown: serviceMultiplier !== ONE },
      { name: 'Speed', value: speedMultiplier, isShown: speedMultiplier !== ONE },
      { name: 'Region (highest)', value: geoMultiplier, isShown: geoMultiplier !== ONE },
    ].flatMap(({ name, value, isShown }) => (isShown ? [{ name, value: times(value) }] : [])),
    outputTokens: usage.output,
    most: costOf(terms, usage),
  };
}
