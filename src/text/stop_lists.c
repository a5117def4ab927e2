/*
 * stop_lists.c: function words: articles, pronouns, prepositions, conjunctions,
 * auxiliaries, question words and the commonest adverbs of each language.
 *
 * Written in the form that fold.c gives (lower case, no accents), so that a query
 * typed without accents meets them too. Words that also name a thing are left out
 * where the language allows it (English "us", the country). They serve two ends: queries drop
 * them, and detect.c tells languages apart by them.
 */
#include "text/private.h"

/* clang-format off */
static const char english[] =
	"a about above across after again against all also although always am among an and "
	"another any are around as at be because been before behind being below between both "
	"but by can cannot could did do does doing down during each either else etc even ever "
	"every few for from further had has have having he hence her here hers herself him "
	"himself his how however i if in into is it its itself just let many may me might "
	"more most much must my myself neither nor not now of off on once only onto or other "
	"others ought our ours ourselves out over own per perhaps quite rather same shall she "
	"should since so some such than that the their theirs them themselves then there "
	"therefore these they this those though through thus to too toward towards under "
	"unless until up upon very via was we were what whatever when whenever where whereas "
	"wherever whether which while who whoever whom whose why will with within without "
	"would yet you your yours yourself yourselves";

static const char german[] =
	"ab aber alle allem allen aller alles als also am an andere anderem anderen anderer "
	"anderes auch auf aus bei beim bereits bevor bin bis bist da dabei dadurch dafur "
	"dagegen daher damit danach dann daran darauf darin daruber darum das dass davon dazu "
	"dein deine dem den denen denn der deren des dessen desto dich die dies diese diesem "
	"diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige "
	"einiger er es etwa etwas euch euer fur gegen gewesen hab habe haben hat hatte hatten "
	"hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins "
	"ist ja jede jedem jeden jeder jedes jedoch jene jener kann kein keine keinem keinen "
	"keiner konnen konnte konnten man mehr mein meine mich mir mit muss mussen musste "
	"nach nachdem nicht nichts noch nun nur ob oder ohne sehr sei sein seine seinem "
	"seinen seiner seines seit selbst sich sie sind so sobald solche solcher soll sollen "
	"sollte sondern sonst soweit sowie sowohl uber um und uns unser unsere unter viel "
	"viele vielen vom von vor wahrend wann war waren warum was weg wegen weil weiter "
	"welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie "
	"wieder will wir wird wo wobei wodurch wofur woher wohin womit woran woraus worin "
	"wovon wozu wurde wurden zu zum zur zwar zwischen";

static const char french[] =
	"a afin ai ainsi alors apres as au aucun aucune aujourdhui auquel aura aurait aussi "
	"autre autres aux auxquels avaient avait avant avec avez avoir avons bien c car ce "
	"ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment d dans "
	"de depuis des desquels deux doit donc dont du duquel durant elle elles en encore "
	"entre es est et etaient etait etant ete etes etre eu eux furent fut il ils j je "
	"jusqu jusque l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsque "
	"lui m ma mais me meme memes mes moi moins mon n ne ni nos notre nous on ont ou par "
	"parce pas pendant peu peut peuvent plus pour pourquoi pres puis puisque qu quand que "
	"quel quelle quelles quels qui quoi quoique s sa sans sauf se selon sera serait "
	"seront ses si sinon soi soient soit son sont sous suis sur t ta tandis te tel telle "
	"tels tes toi ton toujours tous tout toute toutes tres tu un une va vers voici voila "
	"vos votre vous y";

static const char spanish[] =
	"a al algo alguien algun alguna algunas alguno algunos ante antes aquel aquella "
	"aquellos asi aun aunque bajo bien cada casi como con contra cual cuales cualquier "
	"cuando cuanta cuantas cuanto cuantos de del desde donde dos durante e el ella ellas "
	"ello ellos en entre era eran eres es esa esas ese eso esos esta estaba estaban "
	"estado estan estar estas este esto estos estoy fue fueron ha haber habia habian han "
	"has hasta hay he hemos la las le les lo los mas me mediante mi mientras mis misma "
	"mismo mucho muchos muy nada ni no nos nosotros nuestra nuestro nunca o os otra otras "
	"otro otros para pero poco por porque pues que quien quienes se sea segun ser si sido "
	"siempre sin sino sobre solo son soy su sus suya suyo tal tambien tampoco tan tanto "
	"te tenia tiene tienen toda todas todo todos tras tu tus un una unas uno unos usted "
	"vosotros y ya yo";

static const char portuguese[] =
	"a acerca ainda alem algo algum alguma algumas alguns ante antes ao aos apos aquela "
	"aquele aqueles aquilo as assim ate cada com como contra cuja cujo da das de dela "
	"dele deles depois desde dessa desse desta deste deve do dos durante e ela elas ele "
	"eles em embora enquanto entre era eram essa essas esse esses esta estao estar estas "
	"estava este estes eu foi foram ha isso isto ja la lhe lhes logo mais mas me mediante "
	"mesma mesmo meu minha muito muitos na nao nas nem nenhum nenhuma no nos nossa nosso "
	"num numa nunca o onde os ou outra outras outro outros para pela pelas pelo pelos "
	"perante pode podem pois por porem porque quais qual qualquer quando quanta quanto "
	"quantos que quem se seja sem sempre sendo ser sera seu seus sido so sob sobre sua "
	"suas tal tambem tanto te tem tendo ter teve tinha toda todas todo todos tu tua um "
	"uma umas uns vai voce voces vos";

static const char italian[] =
	"a abbia abbiamo ad affinche agli ai al alcuna alcuni alla alle allo allora altra "
	"altre altri altro anche ancora avere aveva avevano avuto c ce che chi ci cio cioe "
	"circa codesto coi col come con contro cosa cosi cui d da dagli dai dal dalla dalle "
	"dallo degli dei del della delle dello dentro di dopo dove due durante e ed era erano "
	"essa esse essere essi esso fa fino fra fu furono gia gli ha hanno ho i il in infatti "
	"io l la le lei li lo loro lui ma me mentre mi mia mio molto ne negli nei nel nella "
	"nelle nello nessun nessuna no noi non nostro o od ogni oltre oppure per perche pero "
	"piu poi presso prima pur qual qualche quale quali quando quanta quante quanti quanto "
	"quella quelle quelli quello questa queste questi questo qui quindi s sara se secondo "
	"sei sempre senza si sia siano sono sotto sta stata stati stato su sua sue sugli sui "
	"sul sulla sulle suo suoi tale tali tra tramite tu tutta tutte tutti tutto un una uno "
	"v verso vi voi";

static const char dutch[] =
	"aan achter al alle alleen alles als altijd andere anders ben bent bij binnen daar "
	"daarbij daarna daarom dan dat de den der deze die dit doch doen door dus een eens "
	"elk elke en enige enkele er ervan even geen geweest haar had hadden heb hebben heeft "
	"hem het hier hij hoe hoeveel hun iets ik in is ja je jij jou jouw jullie kan kon "
	"konden kunnen maar me meer men met mij mijn moet moeten na naar nadat niet niets nog "
	"nu of om omdat onder ons onze ook op over reeds sinds te tegen ten ter terwijl toch "
	"toen tot tussen u uit uw van vanaf veel via volgens voor voordat waar waarin waarmee "
	"waarom wanneer was wat we wel welk welke werd werden wie wiens wij wil worden wordt "
	"zal ze zei zelf zich zij zijn zo zoals zonder zou zouden zowel";

static const char danish[] =
	"af aldrig alle alt anden andet andre at bare begge blev blive bliver da de dem den "
	"denne der deres det dette dig din disse dog du efter eller en end endnu er et fik "
	"for fordi fra ham han hans har havde have hele hende hendes her hos hun hvad hvem "
	"hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornar i ikke ind ingen intet "
	"ja jeg jer kan kom kun kunne lad man mange med meget mellem men mens mere mest mig "
	"min mod nar ned nej nogen noget nogle nu og ogsa om op os over pa sa sadan samme "
	"samt selv sig sin sine skal skulle som til ud uden under vaere vaeret var ved vi vil "
	"ville vor vores";

static const char norwegian[] =
	"alle alt andre annen annet at av bare begge ble blei bli blir da de deg dem den "
	"denne der dere deres det dette din disse du eller en enda enn er et etter fa fikk "
	"for fordi fra ha hadde ham han hans har hele henne hennes her hos hun hva hvem hver "
	"hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke ingen inn ja jeg kan kom kun "
	"kunne man mange med meg meget mellom men mens mer mest min mot mye nar ned nei noe "
	"noen nok og ogsa om opp oss over pa sa samme samt seg selv si sin sine skal skulle "
	"slik som til under ut uten vaere vaert var vare vart ved vi vil ville";

static const char swedish[] =
	"aldrig alla allt an andra annan annat ar at att av bara bland blev bli blir blivit "
	"da dar de dem den denna deras dess dessa det detta dig din du efter eftersom eller "
	"en enligt er ett fanns fick finns for fran ga genom ha hade han hans har henne "
	"hennes hon honom hos hur i icke igen in inga ingen inom inte ja jag kan kom kommer "
	"kunde lite man manga med mellan men mer mest mig min mot mycket nagon nagot nagra "
	"nar ner ni nu nya och ocksa om oss over pa sa sadan samma samt sedan sig sin sina "
	"sitt sjalv ska skall skulle som till under upp ut utan vad var vara varfor varit "
	"varje vars vem vi vid vilka vilken vilket vill ville";

static const char finnish[] =
	"aikana aina alla ehka ei eika eivat ellei en enemman ennen ensin eri et etta han "
	"hanella hanen hanet he heidan heille ilman itse ja jalkeen jo joiden joissa joita "
	"joka jolla jolle jonka jopa jos joskus jossa josta jota jotka jotta juuri kaikki "
	"kaikkien kanssa kautta kehen keiden kenen kesken ketka kohti koko koska kuin kuinka "
	"kuitenkin kuka kun kuten lahes lisaksi luona me meidan mika mikali miksi milla "
	"millainen mille milloin mina minka minne minua missa mista mita mitaan mitka "
	"molemmat monen moni monta muita mukaan mukana mutta muun muut myos myoskin ne niiden "
	"niin niissa niita noin nuo nyt ole olen oli olisi olivat olla ollut on onko osa ovat "
	"paitsi poikki pois saakka se seka sen siina siita sille sina sinun sita siten sitten "
	"taas tahan tai tama taman tassa tasta tata te teidan tuo vaan vai vaikka vain varten "
	"viela vielka voi voidaan voivat vuoksi yli ylla";

static const char hungarian[] =
	"a abban addig ahol aki akik akkor alatt altal am amely amelyek amelyet ami amikor "
	"amit at az azok azon azonban azt aztan azzal bar barmely be benne csak de e egy "
	"egyeb egyes egyik el eleg elott elso emiatt en eppen erre ertek es ez ezek ezen "
	"ezert ezt ezzel fel fele felett ha hanem hany hat hogy hogyan hol honnan hova hozza "
	"igen igy ill illetve ilyen is itt jo jol kell kellett ki kik kinek kivul koze kozott "
	"koztuk kozul le lehet lenne lesz lett majd meg mely melyek melyik mert mi miatt "
	"mikor milyen minden mindig mint mintha mit mivel most nagyon ne neki nelkul nem "
	"nincs o ok oket ott pedig persze sajat se sem soha sok szamara szerint szinten tehat "
	"tobb tovabba tul ugy ugyan ugyanis utan utana vagy vagyis vagyok valaki valami van "
	"vannak vissza viszont volna volt voltak";

static const char romanian[] =
	"a abia acea aceasta aceea acei aceia acel acela acelasi acele acest acesta aceste "
	"acestea acestei acestor acestui acolo acum adica ai aia al ale alt alta alte altele "
	"altfel alti altul am anume apoi ar are as asa asemenea asta astfel asupra atat atata "
	"atunci au avea avem avut azi ba ca cand care carei caror carui cat cata cate cati "
	"catre ce cea ceea cei cel cele celor chiar cine cineva cu cui cum cumva da daca dar "
	"dat datorita de decat deci deja deoarece departe desi despre din dintr dintre doar "
	"dupa ea ei el ele era erau este eu fara fata fi fie fiecare fiind fost iar ii il imi "
	"in inainte inapoi inca insa intr intre isi iti la langa le li lor lui ma mai mea mei "
	"mele mult multa multe multi ne nici nimic niste noi nostru nu numai o or ori oricare "
	"orice pana pe pentru peste poate pot prea prima prin printr sa sai sale sau se si "
	"sine sub sunt suntem tai tale toata toate tot toti totul totusi tu tuturor un una "
	"unde unei unele unii unor unora unui unul va voastra voi vom vor vostru vreo";

static const char turkish[] =
	"acaba altinda ama ancak arada artik asla aslinda ayrica az bana bazen bazi belki ben "
	"beni benim beri bile bir bircok biri birkac birsey biz bize bizi bizim boyle boylece "
	"bu buna bunda bundan bunlar bunlari bunu bunun burada butun cok cunku da daha dahi "
	"dan de defa degil den diger dir diye dolayi dolayisiyla eger en gibi gore hala hangi "
	"hangisi hatta hem henuz hep hepsi her herhangi hic icin iken ile ise iste itibaren "
	"kac kadar karsi karsin kendi kendisi ki kim kime kimi kimin kimse mi mu nasil ne "
	"neden nedenle nedir nerede nereden nereye neyi nicin niye o olan olarak oldu oldugu "
	"oldugunu olmak olmasi olup olur on ona ondan onlar onlari onlarin onu onun oyle oysa "
	"pek ragmen sadece sana sanki sen seni siz size sonra su sunu tarafindan tum uzere "
	"var ve veya ya yani yerine yine yok yoksa zaten";

static const char indonesian[] =
	"ada adalah adanya agar akan aku anda antara apa apabila apakah atas atau bagaimana "
	"bagi bahkan bahwa banyak beberapa begitu belum berapa bila bisa bukan dalam dan "
	"dapat dari daripada dengan di dia dimana ialah ini itu jadi jika juga kalau kami "
	"kamu kapan karena ke kemudian kepada ketika kita lagi lain lalu lebih maka mana "
	"masih maupun melainkan melalui mengapa menjadi menurut mereka merupakan namun nya "
	"oleh pada padahal para pernah pula pun saat saja saling sambil sampai sana sangat "
	"saya se sebab sebagai sebagaimana sebelum sebuah secara sedang sehingga sejak selain "
	"selama seluruh semua sendiri seorang seperti serta sesudah setelah setiap siapa "
	"suatu sudah supaya tanpa tapi telah tentang terhadap tersebut tetap tetapi tidak "
	"untuk walaupun yaitu yakni yang";

static const char russian[] =
	"а без более бы был была были было быть в вам вас весь во вот все всего всех вы где "
	"да даже для до другие другой его ее ей ему если есть еще же за зачем здесь и из или "
	"им ими их к как какая какие каким каких какое какой какую кем ко когда кого кому "
	"которая которого которое которой котором которую которые который которым которых кто "
	"куда ли либо между меня мне много может мой мы на над надо нам нас наш не него нее "
	"ней нем нет ни них но ну о об один однако он она они оно от очень перед по под после "
	"потом потому почему поэтому при про раз с сам своего своей своих свой свою себе себя "
	"сейчас сколько со так такая также такие такой там те тебя тем теперь то тогда того "
	"тоже той только том тот тут ты у уже хотя чего чей чем через что чтобы чья эта эти "
	"этим этих это этого этой этом этот эту я является являются";

static const char greek[] =
	"α αλλα αλλη αλλο αλλοι αλλοσ αν ανα αναμεσα αντι απ απο αρα αυτα αυτεσ αυτη αυτην "
	"αυτησ αυτο αυτοι αυτον αυτοσ αυτου αυτουσ αυτων αφου γι για γιατι δε δεν δηλαδη δια "
	"δικο εαν εγω εδω ειμαι ειμαστε ειναι εισαι ειτε ειχαν ειχε εκει εκεινα εκεινη εκεινο "
	"εκτοσ ενα εναν ενασ ενοσ ενω εξ επειδη επι επισησ εσυ ετσι εχει εχουν η ηταν θα ι "
	"ιδιο καθε καθωσ και κανενα καποια καποιο καποιοσ κατα κατω κι λοιπον μα μαζι μαλλον "
	"μασ με μεν μερικα μεσα μετα μεταξυ μεχρι μη μην μια μιασ μονο μου μπορει μπορουν να "
	"ναι ο οι ολα ολεσ ολη ολο ολοι ομωσ οποια οποιεσ οποιο οποιοι οποιον οποιοσ οποιου "
	"οποιουσ οποιων οποτε οπου οπωσ οσα οσο οσοι οταν οτι ουτε παλι παντα παρα περι "
	"περισσοτερο πια πιο ποια ποιεσ ποιο ποιοι ποιον ποιοσ ποιου ποιουσ ποιων πολυ ποσα "
	"ποσεσ ποσο ποσοι ποτε που πριν προσ πωσ σαν σασ σε σου στα στη στην στησ στισ στο "
	"στον στουσ συν τα τη την τησ τι τιποτα τισ το τον τοσο τοτε του τουσ των υπαρχει "
	"υπερ υπο ωσ ωστε";

static const char arabic[] =
	"ابن اذ اذا الا التي الذي الذين اللذان اللواتي الى ام اما امام ان انا انت انه انها "
	"انهم او اول اي ايضا اين بان بعد بعض بل بن به بها بهم بين تحت تكون تلك تم ثم جدا حتى "
	"حتي حول حيث حين خلال دون ذات ذلك رغم سوف سوي ضد ضمن عام عبر عدم على علي عليه عليها "
	"عن عند عندما عنه عنها غير فقد فقط في فيه فيها قبل قد كان كانت كانوا كذلك كل كلا كم "
	"كما كي كيف لا لان لدى لدي لقد لكل لكن لم لماذا لن له لها لهذا لهم لو لولا ليس ليست "
	"ما ماذا متى متي مثل مع معه معها مما من منذ منه منها منهم نحن نحو نفس هذا هذه هل هم "
	"هما هن هنا هناك هو هولاء هي و والتي والذي وان وقد وكان وكانت ولا ولم وما ومن وهو وهي "
	"يا يتم يكون يمكن";

static const char hindi[] =
	"अत अथवा अपना अपनी अपने अब अभी आदि आप इन इनका इनकी इनके इन्हें इस इसका इसकी इसके "
	"इसमें इसलिए इसी इसे उन उनका उनकी उनके उनको उन्हें उन्होंने उस उसका उसकी उसके उसने "
	"उसी उसे एक एवं ऐसा ऐसे और कई कब कभी कर करता करती करते करना करने कहा कहाँ कहां का कि "
	"कितना कितनी कितने किन किया किस किसका किसकी किसके किसने किसी किसे की कुछ के कैसे को "
	"कोई कौन कौनसा क्या क्यों गई गए गया गये जब जहां जा जाता जाती जाते जाना जाने जिन जिस "
	"जिसका जिसकी जिसके जिसमें जिसे जैसे जो तक तथा तब तरह तो था थी थीं थे दिया द्वारा न "
	"नहीं ना ने पर परंतु फिर बहुत बाद बीच भी मगर में मेरा मैं यदि यह यहां या ये रहा रही "
	"रहे लिए लिये लेकिन व वह वहां वाला वाली वाले वे सकता सकती सकते सब सभी साथ से हम हमारा "
	"ही हुआ हुई हुए हूँ है हैं हो होता होती होते होना होने";
/* clang-format on */

const char *stop_list(enum text_lang lang)
{
	static const char *const lists[TEXT_LANG_COUNT] = {
		[TEXT_LANG_AR] = arabic,
		[TEXT_LANG_DA] = danish,
		[TEXT_LANG_DE] = german,
		[TEXT_LANG_EL] = greek,
		[TEXT_LANG_EN] = english,
		[TEXT_LANG_ES] = spanish,
		[TEXT_LANG_FI] = finnish,
		[TEXT_LANG_FR] = french,
		[TEXT_LANG_HI] = hindi,
		[TEXT_LANG_HU] = hungarian,
		[TEXT_LANG_ID] = indonesian,
		[TEXT_LANG_IT] = italian,
		[TEXT_LANG_NL] = dutch,
		[TEXT_LANG_NO] = norwegian,
		[TEXT_LANG_PT] = portuguese,
		[TEXT_LANG_RO] = romanian,
		[TEXT_LANG_RU] = russian,
		[TEXT_LANG_SV] = swedish,
		[TEXT_LANG_TR] = turkish,
	};

	return lists[lang];
}
