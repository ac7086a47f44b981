import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lint, type Manifest, manifestsIn, render, validate } from '../support/helm.js';

const ROOT = resolve(import.meta.dirname, '../..');
const SECRET = { existingSecret: 'relay-secrets' };
const EVERYTHING = {
  ...SECRET,
  'autoscaling.enabled': true,
  'ingress.enabled': true,
  'serviceMonitor.enabled': true,
  podAnnotations: { note: 'one' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'relay', operator: 'Exists' }],
  imagePullSecrets: [{ name: 'registry' }],
  'networkPolicy.ingressFrom': [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
};
const EMBEDDED = { 'embeddedDatabase.enabled': true, 'embeddedDatabase.storageClassName': 'fast' };

const find = (manifests: readonly Manifest[], kind: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`There is no ${kind}.`);
  return found;
};
const kinds = (values: object): string[] =>
  manifestsIn(render(values))
    .map(({ kind }) => kind)
    .toSorted();

describe('the Helm chart', () => {
  it.each([
    ['a Secret', SECRET],
    ['everything', EVERYTHING],
    ['the embedded database', EMBEDDED],
  ])('passes lint and the schemas of Kubernetes with %s', (_, values) => {
    expect(lint(values)).toContain('0 chart(s) failed');
    expect(validate(render(values))).toContain('passed for resource deployment/switchboard');
  });

  it('is held against schemas that refuse unknown fields', () => {
    const wrong = render(SECRET).replace('terminationGracePeriodSeconds', 'terminationGraceSeconds');
    expect(() => validate(wrong)).toThrow('terminationGraceSeconds');
  });

  it('creates what is switched on, and nothing else', () => {
    const always = ['Deployment', 'Job', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceAccount'];
    expect(kinds(SECRET)).toEqual(always);
    expect(kinds(EVERYTHING)).toEqual([...always, 'HorizontalPodAutoscaler', 'Ingress', 'ServiceMonitor'].toSorted());
    expect(kinds(EMBEDDED)).toEqual([
      'Deployment',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'Service',
      'ServiceAccount',
    ]);
  });

  it.each([
    [{}, 'Set existingSecret to a Secret with DATABASE_URL and SECRET_KEY'],
    [{ ...EMBEDDED, 'serviceMonitor.enabled': true }, 'serviceMonitor needs existingSecret'],
    [{ ...SECRET, replica: 2 }, 'replica'],
    [{ ...SECRET, 'config.SECRET_KEY': 'in clear' }, 'SECRET_KEY'],
    [{ ...SECRET, 'config.WORKERS': 2 }, 'WORKERS'],
  ])('refuses the values %j', (values, reason) => {
    expect(() => render(values)).toThrow(reason);
  });

  it('runs as a user without rights on a read-only root', () => {
    for (const [values, kind] of [
      [SECRET, 'Deployment'],
      [SECRET, 'Job'],
      [EMBEDDED, 'Deployment'],
    ] as const) {
      const { spec } = find(manifestsIn(render(values)), kind).spec.template;
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 });
      expect(spec.containers[0].securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(spec.automountServiceAccountToken).toBe(false);
    }
  });

  it('gives a stopping pod the pause, the grace period and the last steps', () => {
    const { spec } = find(manifestsIn(render({ ...SECRET, shutdownGraceSeconds: 600 })), 'Deployment').spec.template;
    const [container] = spec.containers;
    expect(container.env).toContainEqual({ name: 'SHUTDOWN_GRACE_MS', value: '600000' });
    expect(container.lifecycle.preStop.exec.command).toEqual(['sleep', '5']);
    expect(spec.terminationGracePeriodSeconds).toBe(5 + 600 + 40);
  });

  it('probes paths that exist, and takes secrets from the Secret alone', () => {
    const [container] = find(manifestsIn(render(SECRET)), 'Deployment').spec.template.spec.containers;
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet.path);
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
    expect(container.envFrom).toEqual([{ secretRef: { name: 'relay-secrets' } }]);
  });

  it('migrates before pods are replaced', () => {
    const job = find(manifestsIn(render(SECRET)), 'Job');
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    expect(job.spec.template.spec.containers[0].command).toEqual(['switchboard', 'migrate']);
  });

  it('sends no requests to the migration', () => {
    const manifests = manifestsIn(render(SECRET));
    const selector = Object.entries(find(manifests, 'Service').spec.selector);
    const labelsOf = (kind: string): [string, unknown][] =>
      Object.entries(find(manifests, kind).spec.template.metadata.labels);
    expect(labelsOf('Deployment')).toEqual(expect.arrayContaining(selector));
    expect(labelsOf('Job')).not.toEqual(expect.arrayContaining(selector));
  });

  it('has one pod with the embedded database, and leaves the count to autoscaling', () => {
    expect(find(manifestsIn(render({ ...EMBEDDED, replicas: 3 })), 'Deployment').spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'Recreate' },
    });
    expect(find(manifestsIn(render(EVERYTHING)), 'Deployment').spec).not.toHaveProperty('replicas');
  });

  it('does not buffer at the Ingress', () => {
    expect(find(manifestsIn(render(EVERYTHING)), 'Ingress').metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
    });
  });

  it('is of the version of the program, and names its image’s user', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(render(SECRET)).toContain(`image: "switchboard:${version}"`);
    expect(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')).toContain('\nUSER 10001:10001\n');
  });
});
